import { Module } from '@nestjs/common';
import { RemovalWatch } from './removal-watch.js';

@Module({ providers: [RemovalWatch], exports: [RemovalWatch] })
export class DeprecationModule {}

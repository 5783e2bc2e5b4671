import { Global, Module } from '@nestjs/common';
import { PrismaService } from './prisma.service.js';
import { SchemaState } from '../migrations/schema-state.js';

@Global()
@Module({ providers: [PrismaService, SchemaState], exports: [PrismaService, SchemaState] })
export class DatabaseModule {}

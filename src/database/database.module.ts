import { Global, Module } from '@nestjs/common';
import { PrismaService } from './prisma.service.js';
import { QueryRunner } from './query-runner.js';

@Global()
@Module({ providers: [PrismaService, QueryRunner], exports: [PrismaService, QueryRunner] })
export class DatabaseModule {}

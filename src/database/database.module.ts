import { Global, Module } from '@nestjs/common';
import { Clock } from '../process/clock.js';
import { DatabaseClock } from './access/database-clock.js';
import { PrismaService } from './access/prisma.service.js';
import { SchemaState } from './migrations/schema-state.js';

@Global()
@Module({
  providers: [
    PrismaService,
    SchemaState,
    { provide: DatabaseClock, inject: [Clock], useFactory: (clock: Clock) => new DatabaseClock(clock) },
  ],
  exports: [PrismaService, DatabaseClock, SchemaState],
})
export class DatabaseModule {}

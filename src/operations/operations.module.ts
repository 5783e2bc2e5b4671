import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { Connections } from '../http/connections.js';
import { DatabaseHealth } from './database.health.js';
import { HealthController } from './health.controller.js';

@Module({
  // What is down is told in the answer, and logged with it.
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [Connections, DatabaseHealth],
})
export class OperationsModule {}

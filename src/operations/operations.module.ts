import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AuthModule } from '../auth/auth.module.js';
import { Connections } from '../server/connections.js';
import { RefusedConnections } from '../server/refused-connections.js';
import { UnsentResponses } from '../server/unsent-responses.js';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { CounterStoreHealth } from './counter-store.health.js';
import { DatabaseHealth } from './database.health.js';
import { DetailsAccess } from './details-access.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

@Module({
  // `Readiness` logs what is down.
  imports: [TerminusModule.forRoot({ logger: false }), AuthModule, RateLimitModule],
  controllers: [HealthController],
  providers: [
    Connections,
    RefusedConnections,
    UnsentResponses,
    DatabaseHealth,
    CounterStoreHealth,
    DetailsAccess,
    Readiness,
  ],
  exports: [Connections, RefusedConnections, UnsentResponses],
})
export class OperationsModule {}

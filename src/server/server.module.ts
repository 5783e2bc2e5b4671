import { Module } from '@nestjs/common';
import { Connections } from './connections.js';
import { RefusedConnections } from './refused-connections.js';
import { UnsentResponses } from './unsent-responses.js';

@Module({
  providers: [Connections, RefusedConnections, UnsentResponses],
  exports: [Connections, RefusedConnections, UnsentResponses],
})
export class ServerModule {}

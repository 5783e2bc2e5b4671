import { Global, Module } from '@nestjs/common';
import { AllowedMethods } from '../http/allowed-methods.js';
import { RequestBodies } from '../http/request-body.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { Connections } from './connections.js';
import { RefusedConnections } from './refused-connections.js';
import { UnsentResponses } from './unsent-responses.js';

const STATE = [
  AllowedMethods,
  ConcurrencyLimit,
  Connections,
  RefusedConnections,
  RequestBodies,
  UnsentResponses,
];

/** Provides the state of the HTTP server to every module. */
@Global()
@Module({ providers: STATE, exports: STATE })
export class ServerModule {}

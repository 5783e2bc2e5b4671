import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { Connections } from './connections.js';

/** Provides the slots and the connections to every module. */
@Global()
@Module({})
export class ServerModule {
  /** @param connections of the server, which exists before all modules. */
  static register(connections: Connections): DynamicModule {
    const providers = [ConcurrencyLimit, { provide: Connections, useValue: connections }];
    return { module: ServerModule, providers, exports: providers };
  }
}

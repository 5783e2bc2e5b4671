import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { Connections } from '../server/connections.js';

/** Provides the connections and the slots to every module. */
@Global()
@Module({})
export class HttpModule {
  /** @param connections of the server, which exists before all modules. */
  static register(connections: Connections): DynamicModule {
    const providers = [ConcurrencyLimit, { provide: Connections, useValue: connections }];
    return { module: HttpModule, providers, exports: providers };
  }
}

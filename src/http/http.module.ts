import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ConcurrencyLimit } from './connections/concurrency-limit.js';
import { Connections } from './connections/connections.js';
import { RequestBodyReader } from './connections/request-body-reader.js';
import { LargeBodyHook } from './responses/large-body.hook.js';
import { RevalidationHook } from './responses/revalidation.hook.js';
import { AllowedMethods } from './routes/allowed-methods.js';
import { NotFoundController } from './routes/not-found.controller.js';
import { SchemaHook } from './routes/schema.hook.js';

/** Provides the state of the server to every module, and the steps of a request that all operations share. */
@Global()
@Module({
  controllers: [NotFoundController],
  providers: [
    ConcurrencyLimit,
    RequestBodyReader,
    SchemaHook,
    AllowedMethods,
    RevalidationHook,
    LargeBodyHook,
  ],
  exports: [ConcurrencyLimit],
})
export class HttpModule {
  static register(connections: Connections): DynamicModule {
    const providers = [{ provide: Connections, useValue: connections }];
    return { module: HttpModule, providers, exports: providers };
  }
}

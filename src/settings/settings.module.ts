import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';
import { ENVIRONMENT, type Environment } from './environment.js';
import { AllowedMethods } from '../http/allowed-methods.js';
import { ConcurrencyLimit } from '../server/concurrency-limit.js';
import { RequestBodies } from '../http/request-body.js';

/** Provides the settings, the clock and the state of the HTTP server to every module. */
@Global()
@Module({})
export class SettingsModule {
  static register(environment: Environment, clock: Clock): DynamicModule {
    const providers = [
      { provide: ENVIRONMENT, useValue: environment },
      { provide: Clock, useValue: clock },
      AllowedMethods,
      ConcurrencyLimit,
      RequestBodies,
    ];
    return { module: SettingsModule, providers, exports: providers };
  }
}

import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Clock } from '../clock.js';
import { ENVIRONMENT, type Environment } from './environment.js';

/** Provides the settings and the clock to every module. */
@Global()
@Module({})
export class SettingsModule {
  static register(environment: Environment, clock: Clock): DynamicModule {
    const providers = [
      { provide: ENVIRONMENT, useValue: environment },
      { provide: Clock, useValue: clock },
    ];
    return { module: SettingsModule, providers, exports: providers };
  }
}

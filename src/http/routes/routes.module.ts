import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { DeclaredRoutes } from './declared-routes.js';

/** Provides to every module what the routes of all modules declare. */
@Global()
@Module({})
export class RoutesModule {
  static register(root: Type): DynamicModule {
    const providers = [{ provide: DeclaredRoutes, useValue: new DeclaredRoutes(root) }];
    return { module: RoutesModule, providers, exports: providers };
  }
}

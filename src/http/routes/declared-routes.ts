import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner } from '@nestjs/core';
import type { FastifyContextConfig } from 'fastify';
import { routeTemplate } from './request-line.js';
import { declaredConfig } from './route-config.decorator.js';

interface DeclaredRoute extends FastifyContextConfig {
  method: string;
  /** The path in the form of the OpenAPI document, such as `/v1/pets/{petId}`. */
  path: string;
}

/** What the routes declare, for the terminal too, which has no server. */
export class DeclaredRoutes {
  readonly all: DeclaredRoute[];

  /** @param root the module that imports all others. */
  constructor(root: Type) {
    this.all = [...new Set(findControllers(root))].flatMap(declaredRoutes);
  }
}

function findControllers(module: Type): Type[] {
  const own = (Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module) ?? []) as Type[];
  const imports = (Reflect.getMetadata(MODULE_METADATA.IMPORTS, module) ?? []) as (Type | { module: Type })[];
  return [...own, ...imports.flatMap((each) => findControllers('module' in each ? each.module : each))];
}

function declaredRoutes(controller: Type): DeclaredRoute[] {
  const prototype = controller.prototype as Record<string, object>;
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((name) => {
    const handler = prototype[name]!;
    const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
    if (method === undefined) {
      return [];
    }
    const paths = [controller, handler].map((each) => String(Reflect.getMetadata(PATH_METADATA, each)));
    const path = `/${paths.flatMap((each) => each.split('/').filter(Boolean)).join('/')}`;
    return [{ ...declaredConfig(handler), method: RequestMethod[method], path: routeTemplate(path) }];
  });
}

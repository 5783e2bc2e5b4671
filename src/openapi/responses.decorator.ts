import { applyDecorators } from '@nestjs/common';
import { RouteSchema } from '@nestjs/platform-fastify';
import { ApiResponse } from '@nestjs/swagger';
import type { FastifySchema } from 'fastify';
import type { z } from 'zod';
import { serializerSchema } from '../schemas/json-schema.js';
import { pageSchema } from '../schemas/pagination.js';
import { AddRouteConfig } from '../http/routes/route-config.decorator.js';
import { type HeaderKey, referToHeaders } from './headers.js';

interface SuccessfulResponse {
  status: number;
  schema: z.ZodType;
  description: string;
  headers?: readonly HeaderKey[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The `operationId` of the document. */
    operation?: string;
  }
}

/**
 * Declares a successful response of a route. Fastify serializes the body with the schema that the document
 * shows. Use it once for each status.
 */
export const Responses =
  ({ status, schema, description, headers = [] }: SuccessfulResponse): MethodDecorator =>
  (target, name, descriptor) => {
    const { KEY } = RouteSchema({});
    const others = Reflect.getMetadata(KEY, descriptor.value as object) as FastifySchema | undefined;
    const response = { ...(others?.response as object), [status]: serializerSchema(schema) };
    applyDecorators(
      RouteSchema({ response }),
      ApiResponse({ status, description, standardSchema: schema, headers: referToHeaders(headers) }),
      AddRouteConfig({ operation: String(name) }),
    )(target, name, descriptor);
  };

/**
 * Declares that a route returns one page of a list, with the links of other pages, and these further headers.
 */
export const PageResponse = (entry: z.ZodType, description: string, ...headers: HeaderKey[]) =>
  Responses({ status: 200, schema: pageSchema(entry), description, headers: ['PageLinks', ...headers] });

import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiResponse } from '@nestjs/swagger';
import { AddRouteConfig } from './route-config.decorator.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    revalidated?: boolean;
  }
}

/** Marks an operation with conditional requests: `ETag`, `If-None-Match`, 304. */
export const Revalidated = () =>
  applyDecorators(
    AddRouteConfig({ revalidated: true }),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description:
        'The `ETag` of the response that you have. While it is current, the response is 304 without a body.',
      schema: { type: 'string', maxLength: 16_384 },
    }),
    ApiResponse({ status: 304, description: 'The response that you have is current.' }),
  );

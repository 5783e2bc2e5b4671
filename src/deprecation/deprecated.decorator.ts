import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiExtension, ApiOperation } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/routes/route-config.decorator.js';
import { LifecycleGuard } from './lifecycle.guard.js';
import type { Deprecation } from './rules/lifecycle.js';

/**
 * Marks a route as deprecated. Must stand below `@Operation()`, which would otherwise lose its description.
 */
export function Deprecated(deprecation: Deprecation) {
  return applyDecorators(
    AddRouteConfig({ deprecation }),
    UseGuards(LifecycleGuard),
    ApiOperation({ deprecated: true }),
    ApiExtension('x-deprecated-since', formatDate(deprecation.since)),
    ApiExtension('x-sunset', formatDate(deprecation.removal)),
    ApiExtension('x-successors', deprecation.successors),
  );
}

function formatDate(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

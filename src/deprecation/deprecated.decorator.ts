import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiExtension, ApiOperation } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/route-config.decorator.js';
import { LifecycleGuard } from './lifecycle.guard.js';
import { areInOrder } from './rules/brownout.js';
import type { Deprecation } from './rules/lifecycle.js';

/**
 * Marks a route as deprecated. Must stand below `@Operation()`, which would otherwise lose its description.
 *
 * @throws Error if its brownouts are wrong.
 */
export function Deprecated(deprecation: Deprecation) {
  const { since, removal, replacement, brownouts = [] } = deprecation;
  if (!areInOrder(brownouts, since, removal)) {
    throw new Error(
      `The brownouts until ${formatDate(removal)} are not in order, or not from full hour to full hour.`,
    );
  }
  return applyDecorators(
    AddRouteConfig({ deprecation }),
    UseGuards(LifecycleGuard),
    ApiOperation({ deprecated: true }),
    ApiExtension('x-deprecated-since', formatDate(since)),
    ApiExtension('x-sunset', formatDate(removal)),
    ApiExtension('x-replacement', replacement),
    ...(brownouts.length === 0 ? [] : [ApiExtension('x-brownouts', brownouts)]),
  );
}

function formatDate(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

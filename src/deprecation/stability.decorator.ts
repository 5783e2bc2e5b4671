import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/route-config.decorator.js';
import { LifecycleGuard } from './lifecycle.guard.js';
import type { Lifecycle } from './lifecycle.js';

/** Says how stable an operation is. Each has to say so, or the service does not start. */
export const Stability = (stability: NonNullable<Lifecycle['stability']>) =>
  applyDecorators(
    AddRouteConfig({ stability }),
    ...(stability === 'experimental' ? [UseGuards(LifecycleGuard)] : []),
    ApiExtension('x-stability', stability),
  );

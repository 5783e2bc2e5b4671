import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/route-config.decorator.js';
import { LifecycleGuard } from './lifecycle.guard.js';
import type { Stability as StabilityLevel } from './rules/lifecycle.js';

/** Declares how stable an operation is; every operation needs one. */
export const Stability = (stability: StabilityLevel) =>
  applyDecorators(
    AddRouteConfig({ stability }),
    ...(stability === 'experimental' ? [UseGuards(LifecycleGuard)] : []),
    ApiExtension('x-stability', stability),
  );

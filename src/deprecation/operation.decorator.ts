import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiExtension, ApiOperation } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/route-config.decorator.js';
import { LifecycleGuard } from './lifecycle.guard.js';
import type { Stability } from './rules/lifecycle.js';

/** Declares how stable an operation is, and the texts of its documentation; every operation needs them. */
export const Operation = (stability: Stability, summary: string, description: string) =>
  applyDecorators(
    AddRouteConfig({ stability }),
    ...(stability === 'experimental' ? [UseGuards(LifecycleGuard)] : []),
    ApiExtension('x-stability', stability),
    ApiOperation({ summary, description }),
  );

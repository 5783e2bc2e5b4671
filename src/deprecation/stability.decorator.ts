import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/route-config.decorator.js';
import type { Stability as StabilityLevel } from './rules/lifecycle.js';

/** Declares how stable an operation is; every operation needs one. */
export const Stability = (stability: StabilityLevel) =>
  applyDecorators(AddRouteConfig({ stability }), ApiExtension('x-stability', stability));

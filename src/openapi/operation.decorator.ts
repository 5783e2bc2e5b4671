import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiSecurity } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/routes/route-config.decorator.js';
import type { Scope } from '../auth/rules/scope.js';
import { LifecycleGuard } from '../deprecation/lifecycle.guard.js';
import type { Stability } from '../deprecation/rules/lifecycle.js';

/**
 * Declares how stable an operation is, the scope that a key needs for it, and the texts of its documentation;
 * every operation needs them.
 *
 * @param scope null for an operation on the holder's own account.
 */
export const Operation = (stability: Stability, scope: Scope | null, summary: string, description: string) =>
  applyDecorators(
    AddRouteConfig({ stability, scope }),
    ...(stability === 'experimental' ? [UseGuards(LifecycleGuard)] : []),
    ApiExtension('x-stability', stability),
    // OpenAPI 3.1.0, section 4.8.30: for a scheme other than OAuth, the list has the roles that an operation
    // requires.
    ApiSecurity('apiKey', scope === null ? [] : [scope]),
    ApiOperation({ summary, description }),
  );

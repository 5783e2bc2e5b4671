import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiSecurity } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/routes/route-config.decorator.js';
import type { Scope } from '../auth/rules/scope.js';
import { LifecycleGuard } from '../deprecation/lifecycle.guard.js';
import type { Stability } from '../deprecation/rules/lifecycle.js';

interface OperationOptions {
  stability: Stability;
  /** The scope that a key needs for it; null for an operation on the holder's own account. */
  scope: Scope | null;
  /** The texts of its documentation. */
  summary: string;
  description: string;
}

/** Declares what every operation must: its stability, its scope, and the texts of its documentation. */
export const Operation = ({ stability, scope, summary, description }: OperationOptions) =>
  applyDecorators(
    AddRouteConfig({ stability, scope }),
    ...(stability === 'experimental' ? [UseGuards(LifecycleGuard)] : []),
    ApiExtension('x-stability', stability),
    // OpenAPI 3.1.0, section 4.8.30: for a scheme other than OAuth, the list has the roles that an operation
    // requires.
    ApiSecurity('apiKey', scope === null ? [] : [scope]),
    ApiOperation({ summary, description }),
  );

type Texts = Pick<OperationOptions, 'summary' | 'description'>;

/** Declares an operation that reads for administrators. All of the administration is stable. */
export const AdminRead = (texts: Texts) => Operation({ stability: 'stable', scope: 'admin:read', ...texts });

/** Declares an operation by which administrators change something. */
export const AdminWrite = (texts: Texts) =>
  Operation({ stability: 'stable', scope: 'admin:write', ...texts });

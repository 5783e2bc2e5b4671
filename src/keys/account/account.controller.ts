import { Body, Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConflictResponse, ApiProduces } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { keyActor } from '../../audit/audit.js';
import { hasScope } from '../../auth/rules/scope.js';
import { HasOwnLimit, REVOCATION_LIMIT } from '../../rate-limit/own-limit.decorator.js';
import { RequestBody } from '../../http/routes/request-body.js';
import { SUCCESSORS_PER_DAY_MAX } from '../key.repository.js';
import { KeyReader } from '../key-reader.service.js';
import { KeyService } from '../key.service.js';
import { CurrentPrincipal } from '../../auth/current-principal.decorator.js';
import { deprecatedOperations } from '../../deprecation/deprecated-operations.js';
import { DeclaredRoutes } from '../../http/routes/declared-routes.js';
import { Operation } from '../../openapi/operation.decorator.js';
import type { Principal } from '../../auth/principal.js';
import { PageResponse, Responses } from '../../openapi/responses.decorator.js';
import { Tag } from '../../openapi/tag.decorator.js';
import { csvIfPreferred } from '../../http/responses/csv-if-preferred.js';
import { respondWithPage } from '../../http/responses/respond-with-page.js';
import { UsageRepository } from '../../usage/usage.repository.js';
import { totalsColumns, Usage, USAGE_KEPT } from '../../usage/usage.schemas.js';
import {
  CurrentKey,
  CurrentKeySuccessor,
  DeprecatedCalls,
  deprecatedCallsCursor,
  DeprecatedCallsQuery,
  RotateCurrentKeyInput,
  usageCursor,
  UsageQuery,
} from './account.schemas.js';
import { leaveUnstored } from './leave-unstored.js';

/**
 * Beyond so many rotations of a key with its predecessors, only administrators may rotate it, so that a
 * stolen key cannot multiply.
 */
const ROTATIONS_PER_DAY = 5;
/** A longer body is not parsed before its request is counted. */
const LEAK_REPORT_MAX_BYTES = 1024;

@Tag('account', 'Your own key: its plan, usage and deprecated calls.')
@Controller('/v1')
export class AccountController {
  constructor(
    private readonly keys: KeyService,
    private readonly reader: KeyReader,
    private readonly usage: UsageRepository,
    private readonly routes: DeclaredRoutes,
  ) {}

  @Get('key')
  @Operation({
    stability: 'beta',
    scope: null,
    summary: 'Get your key',
    description:
      'Returns the key of the request, its plan and limits, and its successor, if it is being rotated. ' +
      'Both keys then work until this one expires.',
  })
  @Responses({ status: 200, schema: CurrentKey, description: 'The key of the request.' })
  getCurrentKey(@CurrentPrincipal() principal: Principal): Promise<object> {
    return this.reader.findCurrent(principal);
  }

  @Post('key/rotate')
  @HasOwnLimit({ ...REVOCATION_LIMIT, appliesTo: reportsLeak })
  @ApiBody({ required: false })
  @ApiConflictResponse()
  @Operation({
    stability: 'beta',
    scope: null,
    summary: 'Rotate your key',
    description:
      'Issues a successor of the key of the request, on the same quota, and shows it once. ' +
      'Both keys work until the overlap ends. Meanwhile, a repeated request replaces a successor that was ' +
      'never used, in case its response was lost; once the successor was used, it fails (409). ' +
      `It also fails once the key, with its predecessors, was rotated ${ROTATIONS_PER_DAY} times within ` +
      'the UTC day. With `leaked`, the key ends at once, and so do its successors and what was issued by ' +
      `any of them; beyond ${SUCCESSORS_PER_DAY_MAX} rotations within the UTC day, there is no new key ` +
      '(409). ' +
      'This works while the quota is banned, takes nothing from the windows, and has ' +
      `a limit of its own: ${REVOCATION_LIMIT.perMinute} requests a minute for each key and address. ` +
      'The response is not stored, ' +
      'so `Idempotency-Key` is rejected.',
  })
  @Responses({
    status: 201,
    schema: CurrentKeySuccessor,
    description: 'The successor.',
    headers: ['NoStore'],
  })
  async rotateCurrentKey(
    @Body({ schema: RotateCurrentKeyInput.prefault({}) }) input: RotateCurrentKeyInput,
    @CurrentPrincipal() { keyId }: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CurrentKeySuccessor> {
    leaveUnstored(request, reply);
    return input.leaked === true
      ? this.keys.replaceLeaked(keyId, keyActor(keyId), SUCCESSORS_PER_DAY_MAX)
      : this.keys.rotate(keyId, input, keyActor(keyId), ROTATIONS_PER_DAY);
  }

  @Get('usage')
  @Operation({
    stability: 'beta',
    scope: null,
    summary: 'List your usage',
    description:
      'Returns one page of the requests of all keys of your quota, in each UTC minute, hour or day that ' +
      'had any, newest first, and with `by` for each operation or key. ' +
      'By key, a key without the scope `keys:write` gets its own requests only. ' +
      `${USAGE_KEPT} Requests appear within a second. ` +
      'With `Accept: text/csv`, the page is CSV (RFC 4180), whose columns are named as the fields.',
  })
  @ApiProduces('application/json', 'text/csv')
  @PageResponse(Usage, 'A page of usage.')
  async listUsage(
    @Query({ schema: UsageQuery }) query: UsageQuery,
    @CurrentPrincipal() { keyId: ownId, quota, scopes }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Usage[] | string> {
    const keyId = query.by === 'key' && !hasScope(scopes, 'keys:write') ? ownId : undefined;
    const page = this.usage.totals({ ...query, quotaId: quota.id, keyId }, query.by);
    const entries = await respondWithPage(reply, page, '/v1/usage', query, usageCursor.textOf);
    return csvIfPreferred(reply, entries, totalsColumns(query.by));
  }

  @Get('deprecations')
  @Operation({
    stability: 'beta',
    scope: null,
    summary: 'List your deprecated calls',
    description:
      'Returns one page of the deprecated operations that keys of your quota called in the last 400 days, ' +
      'by operation. Calls appear within a second.',
  })
  @PageResponse(DeprecatedCalls, 'A page of deprecated operations.')
  async listDeprecatedCalls(
    @Query({ schema: DeprecatedCallsQuery }) query: DeprecatedCallsQuery,
    @CurrentPrincipal() { quota }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeprecatedCalls[]> {
    const declarations = deprecatedOperations(this.routes);
    const operations = declarations.map(({ operation }) => operation);
    const page = this.usage.deprecatedCalls(quota.id, operations, query);
    const calls = await respondWithPage(reply, page, '/v1/deprecations', query, ({ operation }) =>
      deprecatedCallsCursor.textOf({ operation, deprecated: true }),
    );
    return calls.map((call) => {
      const declared = declarations.find(({ operation }) => operation === call.operation)!;
      const { method, path, since, removal, successors } = declared;
      const [deprecatedAt, sunsetAt] = [since.toISOString(), removal.toISOString()];
      return { ...call, method, path, deprecatedAt, sunsetAt, successors: [...successors] };
    });
  }
}

/** Returns whether a rotation is that of a leaked key. Other bodies are rejected once they are counted. */
function reportsLeak({ body }: FastifyRequest): boolean {
  if (!(body instanceof RequestBody) || body.bytes.length > LEAK_REPORT_MAX_BYTES) {
    return false;
  }
  try {
    return (body.json() as { leaked?: unknown } | null | undefined)?.leaked === true;
  } catch {
    return false;
  }
}

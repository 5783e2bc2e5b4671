import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal } from '../auth/current-principal.decorator.js';
import { DeprecatedOperations } from '../deprecation/deprecated-operations.js';
import { Operation } from '../deprecation/operation.decorator.js';
import type { Principal } from '../http/principal.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { pageLinks, pageSchema } from '../schemas/pagination.js';
import { UsageRepository } from '../usage/usage.repository.js';
import { UsageTotals } from '../usage/usage.schemas.js';
import { OwnDeprecatedCalls, OwnKey, OwnUsageQuery } from './account.schemas.js';
import { OwnKeyRepository } from './own-key.repository.js';

@ApiTags('account')
@Controller('/v1')
export class AccountController {
  constructor(
    private readonly keys: OwnKeyRepository,
    private readonly usage: UsageRepository,
    private readonly deprecated: DeprecatedOperations,
  ) {}

  @Get('key')
  @Operation(
    'beta',
    'Get your key',
    'Returns the key of the request, its plan and limits, and its successor, if it is being rotated. Both keys then work until this one expires.',
  )
  @Responses({ status: 200, schema: OwnKey, description: 'The key of the request.' })
  getOwnKey(@CurrentPrincipal() principal: Principal): Promise<OwnKey> {
    return this.keys.find(principal);
  }

  @Get('usage')
  @Operation(
    'beta',
    'List your usage',
    'Returns one page of the requests of all keys of your quota, in each UTC minute, hour or day that had any, newest first. ' +
      'Minutes are kept for 48 hours, hours for 35 days, days for 400. Requests appear within a second.',
  )
  @PageResponse(UsageTotals, 'A page of usage.')
  async listOwnUsage(
    @Query({ schema: OwnUsageQuery }) { limit, period, cursor }: OwnUsageQuery,
    @CurrentPrincipal() { quota }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UsageTotals[]> {
    const { entries, last } = await this.usage.totals({ quotaId: quota.id, period, limit, after: cursor });
    reply.header('Link', pageLinks('/v1/usage', { limit, period }, last?.startsAt));
    return entries;
  }

  @Get('deprecations')
  @Operation(
    'beta',
    'List your deprecated calls',
    'Returns the deprecated operations that keys of your quota called in the last 400 days, by operation. Calls appear within a second.',
  )
  @Responses({
    status: 200,
    schema: pageSchema(OwnDeprecatedCalls),
    description: 'The deprecated operations.',
  })
  async listOwnDeprecatedCalls(@CurrentPrincipal() { quota }: Principal): Promise<OwnDeprecatedCalls[]> {
    const usage = await this.usage.byOperation({ period: 'day', quotaId: quota.id });
    const byName = usage.toSorted((one, other) => (one.operation < other.operation ? -1 : 1));
    return byName.flatMap(({ operation, deprecated, requests, lastAt }) => {
      const declared = this.deprecated.find(operation);
      if (!deprecated || declared === undefined) {
        return [];
      }
      const { method, path, since, removal, replacement } = declared;
      const [deprecatedAt, removedAt] = [since.toISOString(), removal.toISOString()];
      return [{ operation, method, path, deprecatedAt, removedAt, successor: replacement, requests, lastAt }];
    });
  }
}

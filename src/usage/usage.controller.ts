import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Operation } from '../openapi/operation.decorator.js';
import { respondWithPage } from '../http/respond-with-page.js';
import { pageSchema } from '../schemas/pagination.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { UsageRepository } from './usage.repository.js';
import {
  DeprecatedCalls,
  KeyUsage,
  OPERATIONS_MAX,
  OperationUsage,
  Usage,
  USAGE_KEPT,
  UsageTotals,
} from './usage.schemas.js';
import { KeyId } from '../schemas/key-id.decorator.js';
import {
  deprecatedCallsPosition,
  DeprecatedCallsQuery,
  OperationUsageQuery,
  ScopeSuggestion,
  ScopeSuggestionQuery,
  TopKeysQuery,
  usagePosition,
  UsageQuery,
  UsageTotalsQuery,
} from './admin-usage.schemas.js';
import { UsageService } from './usage.service.js';
import { WhatIf, WhatIfQuery } from './what-if.schemas.js';

@Tag('usage', 'Requests by time, key and operation, and the callers of deprecated operations.')
@Controller('/admin')
export class UsageController {
  constructor(
    private readonly usage: UsageService,
    private readonly repository: UsageRepository,
  ) {}

  @Get('usage')
  @Operation(
    'stable',
    'admin:read',
    'List usage',
    'Returns one page of the usage of all keys, newest first. Requests appear within a second.',
  )
  @PageResponse(Usage, 'A page of usage.')
  listUsage(
    @Query({ schema: UsageQuery }) query: UsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Usage[]> {
    return respondWithPage(reply, this.usage.page(query), '/admin/usage', query, usagePosition);
  }

  @Get('keys/:id/usage')
  @KeyId()
  @Operation(
    'stable',
    'admin:read',
    'List the usage of a key',
    'Returns one page of the usage of a key, newest first. Requests appear within a second.',
  )
  @PageResponse(Usage, 'A page of usage.')
  listUsageOfKey(
    @Param('id') id: string,
    @Query({ schema: UsageQuery }) query: UsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Usage[]> {
    return respondWithPage(
      reply,
      this.usage.page(query, id),
      `/admin/keys/${id}/usage`,
      query,
      usagePosition,
    );
  }

  @Get('keys/:id/what-if')
  @KeyId()
  @Operation(
    'stable',
    'admin:read',
    'Try limits on recorded requests',
    'Returns what limits, those of a plan or others, would have denied of the recorded requests of all ' +
      'keys on the quota of the key. ' +
      'Requests that were denied count as sent, also those that repeat others. Bans are left out.',
  )
  @Responses({ status: 200, schema: WhatIf, description: 'What the limits would have denied.' })
  getWhatIf(@Param('id') id: string, @Query({ schema: WhatIfQuery }) query: WhatIfQuery): Promise<WhatIf> {
    return this.usage.whatIf(id, query);
  }

  @Get('deprecations')
  @Operation(
    'stable',
    'admin:read',
    'List callers of deprecated operations',
    'Returns one page of the keys that called a deprecated operation, by operation and key.',
  )
  @PageResponse(DeprecatedCalls, 'A page of callers.')
  listDeprecatedCalls(
    @Query({ schema: DeprecatedCallsQuery }) { limit, cursor }: DeprecatedCallsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeprecatedCalls[]> {
    const page = this.repository.deprecatedCalls(limit, cursor);
    return respondWithPage(reply, page, '/admin/deprecations', { limit }, deprecatedCallsPosition);
  }

  @Get('usage/totals')
  @Operation(
    'stable',
    'admin:read',
    'List usage totals',
    'Returns one page of the requests of all keys, or of one key or quota, in each UTC minute, hour or ' +
      `day that had any, newest first. ${USAGE_KEPT}`,
  )
  @PageResponse(UsageTotals, 'A page of totals.')
  listUsageTotals(
    @Query({ schema: UsageTotalsQuery }) { limit, cursor, key, quota, ...range }: UsageTotalsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UsageTotals[]> {
    const query = { limit, ...range, key, quota };
    const after = cursor && { startsAt: cursor };
    const page = this.repository.totals({ ...range, keyId: key, quotaId: quota, limit, after });
    return respondWithPage(reply, page, '/admin/usage/totals', query, ({ startsAt }) => startsAt);
  }

  @Get('usage/keys')
  @Operation(
    'stable',
    'admin:read',
    'List the keys with the most requests',
    `Returns the \`limit\` keys with the most requests in the range, most first. ` +
      `It is the top of the list, without further pages. ${USAGE_KEPT}`,
  )
  @Responses({ status: 200, schema: pageSchema(KeyUsage), description: 'The keys with the most requests.' })
  listTopKeys(@Query({ schema: TopKeysQuery }) { limit, by, ...range }: TopKeysQuery): Promise<KeyUsage[]> {
    return this.repository.topKeys(range, limit, by);
  }

  @Get('usage/operations')
  @Operation(
    'stable',
    'admin:read',
    'List usage by operation',
    'Returns the requests of all keys, or of one key or quota, for each operation in the range, most ' +
      `requests first. ${USAGE_KEPT}`,
  )
  @Responses({
    status: 200,
    schema: OperationUsage.array().max(OPERATIONS_MAX),
    description: 'The operations that had requests.',
  })
  listUsageByOperation(
    @Query({ schema: OperationUsageQuery }) { key, quota, ...range }: OperationUsageQuery,
  ): Promise<OperationUsage[]> {
    return this.repository.byOperation({ ...range, keyId: key, quotaId: quota });
  }

  @Get('keys/:id/scopes/suggestion')
  @KeyId()
  @Operation(
    'stable',
    'admin:read',
    'Suggest scopes for a key',
    'Returns which scopes the requests of the key needed, and which not, by its usage.',
  )
  @Responses({ status: 200, schema: ScopeSuggestion, description: 'The suggestion.' })
  suggestScopes(
    @Param('id') id: string,
    @Query({ schema: ScopeSuggestionQuery }) { days }: ScopeSuggestionQuery,
  ): Promise<ScopeSuggestion> {
    return this.usage.suggestScopes(id, days);
  }
}

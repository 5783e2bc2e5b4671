import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiProduces } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { csvIfPreferred } from '../http/responses/csv-if-preferred.js';
import { AdminRead } from '../openapi/operation.decorator.js';
import { respondWithPage } from '../http/responses/respond-with-page.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { UsageRepository } from './usage.repository.js';
import {
  DeprecatedCaller,
  KEY_USAGE_COLUMNS,
  KeyUsage,
  OPERATION_COLUMNS,
  OperationUsage,
  TOP_COLUMNS,
  TopUsage,
  totalsColumns,
  USAGE_KEPT,
  UsageTotals,
} from './usage.schemas.js';
import { KeyId, QuotaId } from '../schemas/path-ids.decorator.js';
import {
  deprecatedCallersCursor,
  DeprecatedCallersQuery,
  keyUsageCursor,
  KeyUsageOfAllQuery,
  KeyUsageQuery,
  operationUsageCursor,
  OperationUsageQuery,
  ScopeSuggestion,
  ScopeSuggestionQuery,
  topUsageCursor,
  TopUsageQuery,
  totalsCursor,
  UsageTotalsQuery,
} from './admin-usage.schemas.js';
import { UsageService } from './usage.service.js';
import { WhatIf, WhatIfQuery } from './what-if.schemas.js';

/** Says of a list in the order of requests what a change of the order means for its pages. */
const PAGES_BY_REQUESTS =
  'While requests go on, an entry may move to a page that you have read; a range that has ended has each ' +
  'entry once.';

const AS_CSV = 'With `Accept: text/csv`, the page is CSV (RFC 4180), whose columns are named as the fields.';

@Tag('usage', 'Requests by time, key and operation, and the callers of deprecated operations.')
@Controller('/admin')
export class UsageController {
  constructor(
    private readonly usage: UsageService,
    private readonly repository: UsageRepository,
  ) {}

  @Get('usage')
  @AdminRead({
    summary: 'List usage by key',
    description:
      'Returns one page of the usage of all keys, newest first, by key and operation. Requests appear ' +
      `within a second. ${USAGE_KEPT} ${AS_CSV}`,
  })
  @ApiProduces('application/json', 'text/csv')
  @PageResponse(KeyUsage, 'A page of usage.')
  async listUsageByKey(
    @Query({ schema: KeyUsageOfAllQuery }) query: KeyUsageOfAllQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<KeyUsage[] | string> {
    const entries = await respondWithPage(
      reply,
      this.usage.page(query),
      '/admin/usage',
      query,
      keyUsageCursor.textOf,
    );
    return csvIfPreferred(reply, entries, KEY_USAGE_COLUMNS);
  }

  @Get('keys/:keyId/usage')
  @KeyId()
  @AdminRead({
    summary: 'List the usage of a key',
    description:
      'Returns one page of the usage of a key, newest first, by operation. Requests appear within a ' +
      `second. ${USAGE_KEPT} ${AS_CSV}`,
  })
  @ApiProduces('application/json', 'text/csv')
  @PageResponse(KeyUsage, 'A page of usage.')
  async listKeyUsage(
    @Param('keyId') keyId: string,
    @Query({ schema: KeyUsageQuery }) query: KeyUsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<KeyUsage[] | string> {
    const entries = await respondWithPage(
      reply,
      this.usage.page(query, keyId),
      `/admin/keys/${keyId}/usage`,
      query,
      keyUsageCursor.textOf,
    );
    return csvIfPreferred(reply, entries, KEY_USAGE_COLUMNS);
  }

  @Get('quotas/:quotaId/what-if')
  @QuotaId()
  @AdminRead({
    summary: 'Try limits on recorded requests',
    description:
      'Returns what limits, those of a plan or others, would have denied of the recorded requests of all ' +
      'keys of the quota. ' +
      'Requests that were denied count as sent, those that repeat others included. Bans are left out.',
  })
  @Responses({ status: 200, schema: WhatIf, description: 'What the limits would have denied.' })
  getWhatIf(
    @Param('quotaId') quotaId: string,
    @Query({ schema: WhatIfQuery }) query: WhatIfQuery,
  ): Promise<WhatIf> {
    return this.usage.whatIf(quotaId, query);
  }

  @Get('deprecations')
  @AdminRead({
    summary: 'List callers of deprecated operations',
    description: 'Returns one page of the keys that called a deprecated operation, by operation and key.',
  })
  @PageResponse(DeprecatedCaller, 'A page of callers.')
  listDeprecatedCallers(
    @Query({ schema: DeprecatedCallersQuery }) query: DeprecatedCallersQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeprecatedCaller[]> {
    const page = this.repository.deprecatedCallers(query);
    return respondWithPage(reply, page, '/admin/deprecations', query, deprecatedCallersCursor.textOf);
  }

  @Get('usage/totals')
  @AdminRead({
    summary: 'List usage totals',
    description:
      'Returns one page of the requests of all keys, or of one key or quota, in each UTC minute, hour or ' +
      `day that had any, newest first. ${USAGE_KEPT} ${AS_CSV}`,
  })
  @ApiProduces('application/json', 'text/csv')
  @PageResponse(UsageTotals, 'A page of totals.')
  async listUsageTotals(
    @Query({ schema: UsageTotalsQuery }) query: UsageTotalsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UsageTotals[] | string> {
    const page = this.repository.totals(query);
    const entries = await respondWithPage(reply, page, '/admin/usage/totals', query, totalsCursor.textOf);
    return csvIfPreferred(reply, entries, totalsColumns());
  }

  @Get('usage/top')
  @AdminRead({
    summary: 'List the keys or quotas with the most requests',
    description:
      'Returns one page of the requests of each key, or by choice of each quota, in the range, most ' +
      `requests first, then by id. ${PAGES_BY_REQUESTS} ${USAGE_KEPT} ${AS_CSV}`,
  })
  @ApiProduces('application/json', 'text/csv')
  @PageResponse(TopUsage, 'A page of keys or quotas.')
  async listTopUsage(
    @Query({ schema: TopUsageQuery }) query: TopUsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TopUsage[] | string> {
    const page = this.repository.top(query);
    const entries = await respondWithPage(
      reply,
      page,
      '/admin/usage/top',
      query,
      ({ requests, keyId, quotaId }) => topUsageCursor.textOf({ requests, id: keyId ?? quotaId }),
    );
    return csvIfPreferred(reply, entries, TOP_COLUMNS);
  }

  @Get('usage/operations')
  @AdminRead({
    summary: 'List usage by operation',
    description:
      'Returns one page of the requests of all keys, or of one key or quota, for each operation in the ' +
      `range, most requests first, then by name. ${PAGES_BY_REQUESTS} ${USAGE_KEPT} ${AS_CSV}`,
  })
  @ApiProduces('application/json', 'text/csv')
  @PageResponse(OperationUsage, 'A page of operations.')
  async listUsageByOperation(
    @Query({ schema: OperationUsageQuery }) query: OperationUsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OperationUsage[] | string> {
    const page = this.repository.byOperation(query);
    const entries = await respondWithPage(
      reply,
      page,
      '/admin/usage/operations',
      query,
      operationUsageCursor.textOf,
    );
    return csvIfPreferred(reply, entries, OPERATION_COLUMNS);
  }

  @Get('keys/:keyId/scope-suggestion')
  @KeyId()
  @AdminRead({
    summary: 'Suggest scopes for a key',
    description: 'Returns which scopes the requests of the key needed, and which not, by its usage.',
  })
  @Responses({ status: 200, schema: ScopeSuggestion, description: 'The suggestion.' })
  getScopeSuggestion(
    @Param('keyId') keyId: string,
    @Query({ schema: ScopeSuggestionQuery }) query: ScopeSuggestionQuery,
  ): Promise<ScopeSuggestion> {
    return this.usage.suggestScopes(keyId, query);
  }
}

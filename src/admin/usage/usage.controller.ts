import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Operation } from '../../deprecation/operation.decorator.js';
import { pageLinks, pageSchema } from '../../schemas/pagination.js';
import { PageResponse, Responses } from '../../openapi/responses.decorator.js';
import { UsageRepository } from '../../usage/usage.repository.js';
import {
  DeprecatedCalls,
  KeyUsage,
  OPERATIONS_MAX,
  OperationUsage,
  Usage,
  UsageTotals,
} from '../../usage/usage.schemas.js';
import { KeyId } from '../keys/key-id.decorator.js';
import {
  deprecatedCallsPosition,
  DeprecatedCallsQuery,
  OperationUsageQuery,
  TopKeysQuery,
  usagePosition,
  UsageQuery,
  UsageTotalsQuery,
} from './usage.schemas.js';
import { UsageService } from './usage.service.js';

const KEPT = 'Minutes are kept for 48 hours, hours for 35 days, days for 400.';

@ApiTags('usage')
@Controller('/admin')
export class UsageController {
  constructor(
    private readonly usage: UsageService,
    private readonly repository: UsageRepository,
  ) {}

  @Get('usage')
  @Operation(
    'stable',
    'List usage',
    'Returns one page of the usage of all keys, newest first. Requests appear within a second.',
  )
  @PageResponse(Usage, 'A page of usage.')
  async listUsage(
    @Query({ schema: UsageQuery }) query: UsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Usage[]> {
    const { entries, last } = await this.usage.page(query);
    reply.header('Link', pageLinks('/admin/usage', query, last && usagePosition(last)));
    return entries;
  }

  @Get('keys/:id/usage')
  @KeyId()
  @Operation(
    'stable',
    'List the usage of a key',
    'Returns one page of the usage of a key, newest first. Requests appear within a second.',
  )
  @PageResponse(Usage, 'A page of usage.')
  async listUsageOfKey(
    @Param('id') id: string,
    @Query({ schema: UsageQuery }) query: UsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Usage[]> {
    const { entries, last } = await this.usage.page(query, id);
    reply.header('Link', pageLinks(`/admin/keys/${id}/usage`, query, last && usagePosition(last)));
    return entries;
  }

  @Get('deprecations')
  @Operation(
    'stable',
    'List callers of deprecated operations',
    'Returns one page of the keys that called a deprecated operation, by operation and key.',
  )
  @PageResponse(DeprecatedCalls, 'A page of callers.')
  async listDeprecatedCalls(
    @Query({ schema: DeprecatedCallsQuery }) { limit, cursor }: DeprecatedCallsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeprecatedCalls[]> {
    const { entries, last } = await this.repository.deprecatedCalls(limit, cursor);
    reply.header('Link', pageLinks('/admin/deprecations', { limit }, last && deprecatedCallsPosition(last)));
    return entries;
  }

  @Get('usage/totals')
  @Operation(
    'stable',
    'List usage totals',
    `Returns one page of the requests of all keys, or of one key, in each UTC minute, hour or day that had any, newest first. ${KEPT}`,
  )
  @PageResponse(UsageTotals, 'A page of totals.')
  async listUsageTotals(
    @Query({ schema: UsageTotalsQuery }) { limit, cursor, key, ...range }: UsageTotalsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UsageTotals[]> {
    const { entries, last } = await this.repository.totals({ ...range, keyId: key, limit, after: cursor });
    reply.header('Link', pageLinks('/admin/usage/totals', { limit, ...range, key }, last?.startsAt));
    return entries;
  }

  @Get('usage/keys')
  @Operation(
    'stable',
    'List the keys with the most requests',
    `Returns the \`limit\` keys with the most requests in the range, most first. It is the top of the list, without further pages. ${KEPT}`,
  )
  @Responses({ status: 200, schema: pageSchema(KeyUsage), description: 'The keys with the most requests.' })
  listTopKeys(@Query({ schema: TopKeysQuery }) { limit, ...range }: TopKeysQuery): Promise<KeyUsage[]> {
    return this.repository.topKeys(range, limit);
  }

  @Get('usage/operations')
  @Operation(
    'stable',
    'List usage by operation',
    `Returns the requests of all keys, or of one key, for each operation in the range, most requests first. ${KEPT}`,
  )
  @Responses({
    status: 200,
    schema: OperationUsage.array().max(OPERATIONS_MAX),
    description: 'The operations that had requests.',
  })
  listUsageByOperation(
    @Query({ schema: OperationUsageQuery }) { key, ...range }: OperationUsageQuery,
  ): Promise<OperationUsage[]> {
    return this.repository.byOperation({ ...range, keyId: key });
  }
}

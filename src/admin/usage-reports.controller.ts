import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AdministratorsOnly } from '../auth/administrators-only.decorator.js';
import { Stability } from '../deprecation/stability.decorator.js';
import { Responses } from '../openapi/responses.decorator.js';
import { pageLinks, pageOf } from '../schemas/pagination.js';
import {
  type KeyUsage as KeyUsageEntry,
  type OperationUsage,
  UsageReportRepository,
} from '../usage/usage-report.repository.js';
import { UsageTotals } from '../usage/usage-totals.schemas.js';
import {
  KeyUsage,
  OperationUsageQuery,
  OperationUsages,
  TopKeysQuery,
  UsageTotalsQuery,
} from './usage-reports.schemas.js';

const PATH = '/admin/usage';
const KEPT = 'Minutes are kept for 48 hours, hours for 35 days, days for 400.';

@ApiTags('usage')
@AdministratorsOnly()
@Controller(PATH)
export class UsageReportsController {
  constructor(private readonly reports: UsageReportRepository) {}

  @Get('totals')
  @Stability('stable')
  @ApiOperation({
    summary: 'List usage totals',
    description: `Returns one page of the requests of all keys, or of one key, in each UTC minute, hour or day that had any, newest first. ${KEPT}`,
  })
  @Responses({
    status: 200,
    schema: pageOf(UsageTotals),
    description: 'A page of totals.',
    headers: ['PageLinks'],
  })
  async listUsageTotals(
    @Query({ schema: UsageTotalsQuery }) { limit, cursor, key, ...range }: UsageTotalsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UsageTotals[]> {
    const { totals, more } = await this.reports.totals({ ...range, keyId: key, limit, before: cursor });
    const { period, since, until } = range;
    const filters = { limit, period, since: since?.toISOString(), until: until?.toISOString(), key };
    reply.header(
      'Link',
      pageLinks(`${PATH}/totals`, filters, more ? (totals.at(-1)?.startsAt ?? null) : null),
    );
    return totals;
  }

  @Get('keys')
  @Stability('stable')
  @ApiOperation({
    summary: 'List the keys with the most requests',
    description: `Returns the \`limit\` keys with the most requests in the range, most first. It is the top of the list, without further pages. ${KEPT}`,
  })
  @Responses({ status: 200, schema: pageOf(KeyUsage), description: 'The keys with the most requests.' })
  listTopKeys(@Query({ schema: TopKeysQuery }) { limit, ...range }: TopKeysQuery): Promise<KeyUsageEntry[]> {
    return this.reports.topKeys(range, limit);
  }

  @Get('operations')
  @Stability('stable')
  @ApiOperation({
    summary: 'List usage by operation',
    description: `Returns the requests of all keys, or of one key, for each operation in the range, most requests first. ${KEPT}`,
  })
  @Responses({ status: 200, schema: OperationUsages, description: 'The operations that had requests.' })
  listUsageByOperation(
    @Query({ schema: OperationUsageQuery }) { key, ...range }: OperationUsageQuery,
  ): Promise<OperationUsage[]> {
    return this.reports.byOperation({ ...range, keyId: key });
  }
}

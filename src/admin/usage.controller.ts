import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AdministratorsOnly } from '../auth/administrators-only.decorator.js';
import { Stability } from '../deprecation/stability.decorator.js';
import { pageLinks, pageOf } from '../schemas/pagination.js';
import { Responses } from '../openapi/responses.decorator.js';
import { KeyId } from './key-id.decorator.js';
import {
  DeprecatedCalls,
  deprecatedCallsPosition,
  DeprecatedCallsQuery,
  Usage,
  usagePosition,
  UsageQuery,
} from './usage.schemas.js';
import { UsageService } from './usage.service.js';

@ApiTags('usage')
@AdministratorsOnly()
@Controller('/admin')
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get('usage')
  @Stability('stable')
  @ApiOperation({
    summary: 'List usage',
    description: 'Returns one page of the usage of all keys, newest first. Requests appear within a second.',
  })
  @Responses({ status: 200, schema: pageOf(Usage), description: 'A page of usage.', headers: ['PageLinks'] })
  async listUsage(
    @Query({ schema: UsageQuery }) { cursor, ...filters }: UsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Usage[]> {
    const page = await this.usage.page({ ...filters, after: cursor });
    return withLinks('/admin/usage', filters, page, reply);
  }

  @Get('keys/:id/usage')
  @KeyId()
  @Stability('stable')
  @ApiOperation({
    summary: 'List the usage of a key',
    description: 'Returns one page of the usage of a key, newest first. Requests appear within a second.',
  })
  @Responses({ status: 200, schema: pageOf(Usage), description: 'A page of usage.', headers: ['PageLinks'] })
  async listUsageOfKey(
    @Param('id') id: string,
    @Query({ schema: UsageQuery }) { cursor, ...filters }: UsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Usage[]> {
    const page = await this.usage.page({ ...filters, after: cursor }, id);
    return withLinks(`/admin/keys/${id}/usage`, filters, page, reply);
  }

  @Get('deprecations')
  @Stability('stable')
  @ApiOperation({
    summary: 'List callers of deprecated operations',
    description: 'Returns one page of the keys that called a deprecated operation, by operation and key.',
  })
  @Responses({
    status: 200,
    schema: pageOf(DeprecatedCalls),
    description: 'A page of callers.',
    headers: ['PageLinks'],
  })
  async listDeprecatedCalls(
    @Query({ schema: DeprecatedCallsQuery }) { limit, cursor }: DeprecatedCallsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeprecatedCalls[]> {
    const { calls, more } = await this.usage.deprecatedCalls(limit, cursor);
    const last = calls.at(-1);
    const position = more && last !== undefined ? deprecatedCallsPosition(last) : null;
    reply.header('Link', pageLinks('/admin/deprecations', { limit }, position));
    return calls;
  }
}

function withLinks(
  path: string,
  filters: Omit<UsageQuery, 'cursor'>,
  { usage, more }: { usage: Usage[]; more: boolean },
  reply: FastifyReply,
): Usage[] {
  const last = usage.at(-1);
  reply.header('Link', pageLinks(path, filters, more && last !== undefined ? usagePosition(last) : null));
  return usage;
}

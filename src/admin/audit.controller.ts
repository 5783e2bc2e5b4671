import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AdministratorsOnly } from '../auth/administrators-only.decorator.js';
import { Stability } from '../deprecation/stability.decorator.js';
import { pageLinks, pageOf } from '../http/pagination.js';
import { Answers } from '../openapi/answers.decorator.js';
import { AuditEntry, AuditQuery } from './audit.schemas.js';
import { AuditService } from './audit.service.js';

const PATH = '/admin/audit';

@ApiTags('audit')
@AdministratorsOnly()
@Controller(PATH)
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @Stability('stable')
  @ApiOperation({
    summary: 'List what was done',
    description: 'One page of what administrators did, newest first.',
  })
  @Answers({
    status: 200,
    schema: pageOf(AuditEntry),
    description: 'A page of the audit.',
    headers: ['PageLinks'],
  })
  async listAudit(
    @Query({ schema: AuditQuery }) { limit, cursor }: AuditQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AuditEntry[]> {
    const { entries, more } = await this.audit.page(limit, cursor);
    reply.header('Link', pageLinks(PATH, { limit }, more ? (entries.at(-1)?.id ?? null) : null));
    return entries;
  }
}

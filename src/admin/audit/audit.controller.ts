import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Stability } from '../../deprecation/stability.decorator.js';
import { pageLinks, pageSchema } from '../../schemas/pagination.js';
import { Responses } from '../../openapi/responses.decorator.js';
import { AuditEvent, AuditQuery } from './audit.schemas.js';
import { AuditService } from './audit.service.js';

const PATH = '/admin/audit';

@ApiTags('audit')
@Controller(PATH)
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @Stability('stable')
  @ApiOperation({
    summary: 'List audit events',
    description: 'Returns one page of the actions of administrators, newest first.',
  })
  @Responses({
    status: 200,
    schema: pageSchema(AuditEvent),
    description: 'A page of audit events.',
    headers: ['PageLinks'],
  })
  async listAudit(
    @Query({ schema: AuditQuery }) query: AuditQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AuditEvent[]> {
    const { events, more } = await this.audit.page(query);
    const last = more ? (events.at(-1)?.id ?? null) : null;
    reply.header('Link', pageLinks(PATH, query, last));
    return events;
  }
}

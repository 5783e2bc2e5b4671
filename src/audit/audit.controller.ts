import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AdminRead } from '../openapi/operation.decorator.js';
import { respondWithPage } from '../http/responses/respond-with-page.js';
import { PageResponse } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { AuditEvent, AuditQuery } from './audit.schemas.js';
import { AuditService } from './audit.service.js';

const PATH = '/admin/audit';

@Tag('audit', 'The actions of administrators.')
@Controller(PATH)
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @AdminRead({
    summary: 'List audit events',
    description: 'Returns one page of the actions of administrators, newest first.',
  })
  @PageResponse(AuditEvent, 'A page of audit events.')
  listAuditEvents(
    @Query({ schema: AuditQuery }) query: AuditQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AuditEvent[]> {
    return respondWithPage(reply, this.audit.page(query), PATH, query, ({ id }) => id);
  }
}

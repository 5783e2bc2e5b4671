import { Injectable } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service.js';
import { type Page, toPage } from '../schemas/pagination.js';
import type { AuditEvent, AuditQuery } from './audit.schemas.js';

/** Lists the actions of administrators. */
@Injectable()
export class AuditService {
  constructor(private readonly prisma: PrismaService) {}

  /** Returns one page, newest first. */
  async page(query: AuditQuery): Promise<Page<AuditEvent>> {
    const { limit, cursor, actor, action, key, since, until } = query;
    const rows = await this.prisma.auditEvent.findMany({
      where: {
        ...(cursor !== undefined && { id: { lt: cursor } }),
        ...(actor !== undefined && { actor }),
        ...(action !== undefined && { action }),
        ...(key !== undefined && { subject: `key:${key.toLowerCase()}` }),
        at: { ...(since && { gte: since }), ...(until && { lt: until }) },
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
    const events = rows.map(({ id, at, before, after, ...rest }) => ({
      ...rest,
      id: String(id),
      at: at.toISOString(),
      before: before as AuditEvent['before'],
      after: after as AuditEvent['after'],
    }));
    return toPage(events, limit);
  }
}

import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import type { AuditEvent, AuditQuery } from './audit.schemas.js';

/** Lists the actions of administrators. */
@Injectable()
export class AuditService {
  constructor(private readonly prisma: PrismaService) {}

  /** Returns one page, newest first, and whether more events follow. */
  async page(query: AuditQuery): Promise<{ events: AuditEvent[]; more: boolean }> {
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
    const events = rows.slice(0, limit).map(({ id, at, before, after, ...rest }) => ({
      ...rest,
      id: String(id),
      at: at.toISOString(),
      before: before as AuditEvent['before'],
      after: after as AuditEvent['after'],
    }));
    return { events, more: rows.length > limit };
  }
}

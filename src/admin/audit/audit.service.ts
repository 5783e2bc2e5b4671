import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import type { Action } from './audit.js';
import type { AuditEvent } from './audit.schemas.js';

/** Selects a page of audit events: `limit` events, newest first, before the id `before`. */
interface AuditPageInput {
  limit: number;
  before?: bigint | undefined;
  actor?: string | undefined;
  action?: Action | undefined;
  /** The id of a key: only events on it. */
  key?: string | undefined;
  since?: Date | undefined;
  /** Only events before this time. */
  until?: Date | undefined;
}

/** Lists the actions of administrators. */
@Injectable()
export class AuditService {
  constructor(private readonly prisma: PrismaService) {}

  /** Returns one page, newest first, and whether more events follow. */
  async page(input: AuditPageInput): Promise<{ events: AuditEvent[]; more: boolean }> {
    const { limit, before, actor, action, key, since, until } = input;
    const rows = await this.prisma.auditEvent.findMany({
      where: {
        ...(before !== undefined && { id: { lt: before } }),
        ...(actor !== undefined && { actor }),
        ...(action !== undefined && { action }),
        ...(key !== undefined && { subject: `key:${key.toLowerCase()}` }),
        at: { ...(since && { gte: since }), ...(until && { lt: until }) },
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
    const events = rows.slice(0, limit).map(({ id, at, before: earlier, after, ...rest }) => ({
      ...rest,
      id: String(id),
      at: at.toISOString(),
      before: earlier as AuditEvent['before'],
      after: after as AuditEvent['after'],
    }));
    return { events, more: rows.length > limit };
  }
}

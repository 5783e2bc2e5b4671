import { Injectable } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service.js';
import { type Page, toPage } from '../schemas/pagination.js';
import { isUuid } from '../schemas/uuid.js';
import type { AuditEvent, AuditQuery } from './audit.schemas.js';

/** Begins the subject of an action on a key. */
const KEY = 'key:';

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
        createdAt: { ...(since && { gte: since }), ...(until && { lt: until }) },
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
    const keys = await this.findKeys(rows.flatMap((row) => [row.actor, row.subject.replace(KEY, '')]));
    const events = rows.map(({ id, createdAt, before, after, ...rest }) => ({
      ...rest,
      id: String(id),
      at: createdAt.toISOString(),
      actorKey: keys.get(rest.actor) ?? null,
      subjectKey: keys.get(rest.subject.replace(KEY, '')) ?? null,
      before: before as AuditEvent['before'],
      after: after as AuditEvent['after'],
    }));
    return toPage(events, limit);
  }

  /** Returns what tells these keys apart, by id. Texts that are not the id of a key are not included. */
  private async findKeys(texts: string[]) {
    const ids = [...new Set(texts.filter(isUuid))];
    const keys = await this.prisma.$queryRaw<(NonNullable<AuditEvent['actorKey']> & { id: string })[]>`
      SELECT id, name, prefix, last_four AS "lastFour" FROM api_keys WHERE id = ANY (${ids}::uuid[])`;
    return new Map(keys.map(({ id, ...key }) => [id, key]));
  }
}

import { Injectable } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service.js';
import type { AuditEntry } from './audit.schemas.js';

/** Lists the actions of administrators. */
@Injectable()
export class AuditService {
  constructor(private readonly prisma: PrismaService) {}

  /** Returns one page, newest first, of the entries before the id `before`, and whether more follow. */
  async page(limit: number, before?: bigint): Promise<{ entries: AuditEntry[]; more: boolean }> {
    const rows = await this.prisma.auditEntry.findMany({
      ...(before !== undefined && { where: { id: { lt: before } } }),
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
    const entries = rows.slice(0, limit).map(({ id, at, before: earlier, after, ...rest }) => ({
      ...rest,
      id: String(id),
      at: at.toISOString(),
      before: earlier as AuditEntry['before'],
      after: after as AuditEntry['after'],
    }));
    return { entries, more: rows.length > limit };
  }
}

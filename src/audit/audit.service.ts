import { Injectable } from '@nestjs/common';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { type Page, toPage } from '../schemas/pagination.js';
import { isUuid } from '../schemas/uuid.js';
import { keyActor, SERVICE, terminalActor } from './audit.js';
import type { AuditEvent, AuditQuery } from './audit.schemas.js';

/** Present names of keys, and what tells them apart, by their ids. */
type KeysById = Map<string, Pick<AuditEvent['actor'], 'name' | 'prefix' | 'lastFour'>>;

const NO_KEY = { name: null, prefix: null, lastFour: null };

/** Lists the actions of administrators and holders. */
@Injectable()
export class AuditService {
  constructor(private readonly prisma: PrismaService) {}

  /** Returns one page of events, newest first: none of a range that ends before it starts. */
  async page(query: AuditQuery): Promise<Page<AuditEvent>> {
    const { limit, cursor, action, since, until } = query;
    const rows = await this.prisma.auditEvent.findMany({
      where: {
        ...(cursor !== undefined && { id: { lt: cursor } }),
        ...(action !== undefined && { action }),
        AND: filters(query),
        createdAt: { ...(since && { gte: since }), ...(until && { lt: until }) },
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
    const keys = await this.findKeys(rows.flatMap(({ actor, subject }) => [actor, subject]));
    const events = rows.map(({ id, createdAt, actor, subject, before, after, ...row }) => ({
      id: String(id),
      createdAt: createdAt.toISOString(),
      actor: actorView(actor, keys),
      action: row.action as AuditEvent['action'],
      subject: subjectView(subject, keys),
      // Direct SQL may have stored what is no object, which could not be written.
      before: before === null ? null : { ...(before as Prisma.JsonObject) },
      after: { ...(after as Prisma.JsonObject) },
    }));
    return toPage(events, limit);
  }

  private async findKeys(stored: string[]): Promise<KeysById> {
    const ids = stored
      .map(splitType)
      .filter(([type, id]) => type === 'key' && isUuid(id))
      .map(([, id]) => id);
    const keys = await this.prisma.apiKey.findMany({
      where: { id: { in: [...new Set(ids)] } },
      select: { id: true, name: true, prefix: true, lastFour: true },
    });
    return new Map(keys.map(({ id, ...key }) => [id, key]));
  }
}

function filters({ actorType, actorId, actorName, keyId, quotaId }: AuditQuery) {
  const subjects = [keyId && `key:${keyId.toLowerCase()}`, quotaId && `quota:${quotaId.toLowerCase()}`];
  const wanted = subjects.filter((subject) => subject !== undefined);
  return [
    actorType !== undefined && { actor: actorType === SERVICE ? SERVICE : { startsWith: `${actorType}:` } },
    actorId !== undefined && { actor: keyActor(actorId.toLowerCase()) },
    actorName !== undefined && { actor: terminalActor(actorName) },
    wanted.length > 0 && { subject: { in: wanted } },
  ].filter((filter) => filter !== false);
}

function actorView(stored: string, keys: KeysById): AuditEvent['actor'] {
  const [text, rest] = splitType(stored);
  const type = text as AuditEvent['actor']['type'];
  if (type === 'terminal') {
    return { type, id: null, ...NO_KEY, name: rest };
  }
  // A newer release may have other types, whose actors have an id.
  return { type, id: rest || null, ...(keys.get(rest) ?? NO_KEY) };
}

function subjectView(stored: string, keys: KeysById): AuditEvent['subject'] {
  const [text, id] = splitType(stored);
  const type = text as AuditEvent['subject']['type'];
  return type === 'key'
    ? { type, id, ...(keys.get(id) ?? NO_KEY) }
    : { type, id, ...NO_KEY, name: type === 'plan' ? id : null };
}

/** Returns the type of a stored actor or subject, and what follows it. */
function splitType(stored: string): [type: string, rest: string] {
  const [type = '', ...rest] = stored.split(':');
  return [type, rest.join(':')];
}

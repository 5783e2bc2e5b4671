import type { INestApplicationContext } from '@nestjs/common';
import { type RecordKind, unknownRecord } from '../auth/require-record.js';
import { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ApiError } from '../http/routes/api-error.js';
import { isUuid } from '../schemas/uuid.js';

/** The number of matches that a message lists. */
const MATCHES_MAX = 5;
const TABLES = { key: Prisma.sql`api_keys`, quota: Prisma.sql`quotas` };
const ENDING = /^…?([0-9a-f-]{4,35})$/i;

/**
 * Returns the id of the key or quota whose id is `text` or ends with it.
 *
 * @throws ApiError `not_found`; `invalid_request` if several ids end with it.
 */
export async function findId(
  services: INestApplicationContext,
  kind: RecordKind,
  text: string,
): Promise<string> {
  if (isUuid(text)) {
    return text;
  }
  const ending = ENDING.exec(text)?.[1]?.toLowerCase();
  const [id, ...others] =
    ending === undefined ? [] : await idsEndingWith(services.get(PrismaService), kind, ending);
  if (id === undefined) {
    throw unknownRecord(kind, text);
  }
  if (others.length > 0) {
    const ids = [id, ...others].join(', ');
    throw new ApiError('invalid_request', `Several ids end with "${ending}": ${ids}. Give more characters.`);
  }
  return id;
}

async function idsEndingWith(database: PrismaService, kind: RecordKind, ending: string): Promise<string[]> {
  const rows = await database.$queryRaw<{ id: string }[]>`
    SELECT id FROM ${TABLES[kind]} WHERE right(id::text, ${ending.length}::int) = ${ending}
    ORDER BY id LIMIT ${MATCHES_MAX}`;
  return rows.map(({ id }) => id);
}

import type { INestApplicationContext } from '@nestjs/common';
import { unknownRecord } from '../auth/require-record.js';
import { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ApiError } from '../http/routes/api-error.js';
import { isUuid } from '../schemas/uuid.js';

const MATCHES_MAX = 5;
const TABLES = { key: Prisma.sql`api_keys`, quota: Prisma.sql`quotas` };
type Kind = keyof typeof TABLES;
const ENDING = /^…?([0-9a-f-]{4,35})$/i;
/** These characters of an id are random; the first ones are its time. */
const SHOWN_LENGTH = 8;

/**
 * Returns the id of the key or quota whose id is `text` or ends with it; undefined for an option that is left
 * out.
 *
 * @throws ApiError `not_found`; `invalid_request` if several ids end with it.
 */
export async function findId<Text extends string | undefined>(
  services: INestApplicationContext,
  kind: Kind,
  text: Text,
): Promise<Text> {
  if (text === undefined || isUuid(text)) {
    return text;
  }
  const ending = ENDING.exec(text)?.[1]?.toLowerCase();
  const rows =
    ending === undefined
      ? []
      : await services.get(PrismaService).$queryRaw<{ id: string }[]>`
          SELECT id FROM ${TABLES[kind]} WHERE right(id::text, ${ending.length}::int) = ${ending}
          ORDER BY id LIMIT ${MATCHES_MAX}`;
  if (rows[0] === undefined) {
    throw unknownRecord(kind, text);
  }
  if (rows.length > 1) {
    const list = rows.map(({ id }) => id).join(', ');
    throw new ApiError('invalid_request', `Several ids end with "${ending}": ${list}. Give more characters.`);
  }
  return rows[0].id as Text;
}

/** Returns an id for a table: its ending on a terminal, else the whole. */
export function idCell(id: string): string {
  return process.stdout.isTTY ? `…${id.slice(-SHOWN_LENGTH)}` : id;
}

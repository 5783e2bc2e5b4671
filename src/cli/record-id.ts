import type { INestApplicationContext } from '@nestjs/common';
import { unknownRecord } from '../auth/require-record.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ApiError } from '../http/routes/api-error.js';
import { isUuid } from '../schemas/uuid.js';

const MATCHES_MAX = 5;
type Kind = 'key' | 'quota';
const ENDING = /^…?([0-9a-f-]{4,35})$/i;
/** The last four characters of a key, which tables show after its first ones. */
const LAST_FOUR = /^(?:ask_(?:live|test)_)?…?([0-9a-z]{4})$/i;
/** These characters of an id are random; the first ones are its time. */
const SHOWN_LENGTH = 8;

/** A key or quota that a text may mean, and what tells it from others. */
interface Candidate {
  id: string;
  label: string;
}

/**
 * Returns the id of the key or quota whose id is `text` or ends with it, or of the key whose last four
 * characters it is; undefined for an option that is left out.
 *
 * @throws ApiError `not_found`; `invalid_request` if the text fits several.
 */
export async function findId<Text extends string | undefined>(
  services: INestApplicationContext,
  kind: Kind,
  text: Text,
): Promise<Text> {
  if (text === undefined || isUuid(text)) {
    return text;
  }
  const ending = ENDING.exec(text)?.[1]?.toLowerCase() ?? null;
  const lastFour = LAST_FOUR.exec(text)?.[1] ?? null;
  const database = services.get(PrismaService);
  const candidates = await (kind === 'key'
    ? findKeys(database, ending, lastFour)
    : findQuotas(database, ending));
  const [found] = candidates;
  if (found === undefined) {
    throw unknownRecord(kind, text);
  }
  if (candidates.length > 1) {
    const list = candidates.map(({ label }) => label).join(', ');
    throw new ApiError('invalid_request', `Several ${kind}s end with "${text}": ${list}. Give the id.`);
  }
  return found.id as Text;
}

async function findKeys(database: PrismaService, ending: string | null, lastFour: string | null) {
  const keys = await database.$queryRaw<{ id: string; name: string; quotaId: string }[]>`
    SELECT id, name, quota_id AS "quotaId" FROM api_keys
    WHERE right(id::text, length(${ending}::text)) = ${ending}::text OR last_four = ${lastFour}::text
    ORDER BY id LIMIT ${MATCHES_MAX}`;
  return keys.map(({ id, name, quotaId }): Candidate => ({
    id,
    label: `${id} "${name}" (quota ${quotaId})`,
  }));
}

function findQuotas(database: PrismaService, ending: string | null): Promise<Candidate[]> {
  return database.$queryRaw<Candidate[]>`
    SELECT id, id AS label FROM quotas WHERE right(id::text, length(${ending}::text)) = ${ending}::text
    ORDER BY id LIMIT ${MATCHES_MAX}`;
}

/** Returns an id for a table: its ending on a terminal, else the whole. */
export function idCell(id: string): string {
  return process.stdout.isTTY ? `…${id.slice(-SHOWN_LENGTH)}` : id;
}

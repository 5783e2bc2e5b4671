import type { INestApplicationContext } from '@nestjs/common';
import { unknownRecord } from '../auth/require-record.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ApiError } from '../http/routes/api-error.js';
import { externalId } from '../keys/quota.schemas.js';
import { isUuid } from '../schemas/uuid.js';

const MATCHES_MAX = 5;
type Kind = 'key' | 'quota';
/** An id, or an end of it. */
const ENDING = /^…?([0-9a-f-]{4,36})$/i;
/** The last four characters of a key, which tables show after its first ones. */
const LAST_FOUR = /^(?:ask_(?:live|test)_)?…?([0-9a-z]{4})$/i;
/** These characters of an id are random; the first ones are its time. */
const SHOWN_LENGTH = 8;

/** How a text names a record whose change may not hit another. */
export const EXACTLY = { isExact: true };

/** A key or quota that a text may mean, and what tells it from others. */
interface Candidate {
  id: string;
  label: string;
}

interface FoundKey {
  id: string;
  name: string;
  quotaId: string;
  lastFour: string;
}

/**
 * Returns the id of the key or quota that a text means; undefined for an option that is left out. It is a
 * key whose id it is or ends with it, or whose last four characters it is: in any case, if no key has these
 * characters exactly. It is a quota whose id it is or ends with it, whose external id it is, or one of whose
 * keys it means.
 *
 * Exactly, so that no other is changed: it is a key's last four characters in this case only, and a quota has
 * this whole id or external id.
 *
 * @throws ApiError `not_found`; `invalid_request` if the text fits several.
 */
export async function findId<Text extends string | undefined>(
  services: INestApplicationContext,
  kind: Kind,
  text: Text,
  { isExact } = { isExact: false },
): Promise<Text> {
  if (text === undefined || (kind === 'key' && isUuid(text))) {
    return text;
  }
  const database = services.get(PrismaService);
  const find = kind === 'key' ? keyCandidates : quotaCandidates;
  const candidates = await find(database, text, isExact);
  const [found] = candidates;
  if (found === undefined && isUuid(text)) {
    // Usage and audit may outlive a quota.
    return text;
  }
  if (found === undefined) {
    const names = isExact ? 'whole id or external id' : 'id, external id or key';
    throw kind === 'key'
      ? unknownRecord(kind, text)
      : new ApiError('not_found', `There is no quota with the ${names} "${text}".`);
  }
  if (candidates.length > 1) {
    const list = candidates.slice(0, MATCHES_MAX).map(({ label }) => label);
    const fit = kind === 'key' ? 'Several keys end with' : 'Several quotas fit';
    throw new ApiError('invalid_request', `${fit} "${text}": ${list.join(', ')}. Give the id.`);
  }
  return found.id as Text;
}

async function keyCandidates(database: PrismaService, text: string, isExact: boolean): Promise<Candidate[]> {
  const keys = await findKeys(database, text, isExact);
  return keys.map(({ id, name, quotaId }) => ({ id, label: `${id} "${name}" (quota ${quotaId})` }));
}

/** Returns the quota with this id, else all that the text may mean: an external id may look like an end. */
async function quotaCandidates(
  database: PrismaService,
  text: string,
  isExact: boolean,
): Promise<Candidate[]> {
  const ending = isExact && !isUuid(text) ? null : endingOf(text);
  const customer = externalId.safeParse(text).data ?? null;
  const quotas = await database.$queryRaw<{ id: string; externalId: string | null }[]>`
    SELECT id, external_id AS "externalId" FROM quotas
    WHERE right(id::text, length(${ending}::text)) = ${ending}::text OR external_id = ${customer}::text
    ORDER BY id`;
  const exact = quotas.find(({ id }) => id === ending);
  if (exact !== undefined) {
    return [{ id: exact.id, label: exact.id }];
  }
  const labels = new Map(
    quotas.map((quota) => [quota.id, quota.id + (quota.externalId === null ? '' : ` "${quota.externalId}"`)]),
  );
  for (const { id, name, quotaId } of isExact ? [] : await findKeys(database, text, false)) {
    labels.set(quotaId, labels.get(quotaId) ?? `${quotaId} (key ${id} "${name}")`);
  }
  return Array.from(labels, ([id, label]) => ({ id, label }));
}

async function findKeys(database: PrismaService, text: string, isExact: boolean): Promise<FoundKey[]> {
  const ending = endingOf(text);
  const lastFour = LAST_FOUR.exec(text)?.[1] ?? null;
  const keys = await database.$queryRaw<FoundKey[]>`
    SELECT id, name, quota_id AS "quotaId", last_four AS "lastFour" FROM api_keys
    WHERE
      right(id::text, length(${ending}::text)) = ${ending}::text
      OR lower(last_four) = lower(${lastFour}::text)
    ORDER BY id`;
  const exact = keys.filter((key) => key.lastFour === lastFour || (ending && key.id.endsWith(ending)));
  return isExact || exact.length > 0 ? exact : keys;
}

function endingOf(text: string): string | null {
  return ENDING.exec(text)?.[1]?.toLowerCase() ?? null;
}

/** Returns an id for a table: its ending on a terminal, else the whole. */
export function idCell(id: string): string {
  return process.stdout.isTTY ? `…${id.slice(-SHOWN_LENGTH)}` : id;
}

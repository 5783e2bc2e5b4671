import type { INestApplicationContext } from '@nestjs/common';
import { KeyLookup } from '../../admin/keys/key-lookup.service.js';
import { ApiError } from '../../errors/api-error.js';
import { isUuid } from '../../schemas/uuid.js';

/** These characters of an id are random; the first ones are its time. */
const ENDING_LENGTH = 8;
const ENDING = /^…?([0-9a-f-]{4,35})$/i;

/**
 * Returns the id of the key whose id is `text` or ends with it. Returns `text` unchanged if no key matches.
 *
 * @throws ApiError `invalid_request` if several ids end with it.
 */
export async function findKeyId(services: INestApplicationContext, text: string): Promise<string> {
  const ending = ENDING.exec(text)?.[1]?.toLowerCase();
  if (ending === undefined || isUuid(text)) {
    return text;
  }
  const ids = await services.get(KeyLookup).idsEndingWith(ending);
  if (ids.length > 1) {
    throw new ApiError(
      'invalid_request',
      `Several ids end with "${ending}": ${ids.join(', ')}. Give more of it.`,
    );
  }
  return ids[0] ?? text;
}

/** Returns an id for a table: its ending on a terminal, else the whole. */
export function idCell(id: string): string {
  return process.stdout.isTTY ? `…${id.slice(-ENDING_LENGTH)}` : id;
}

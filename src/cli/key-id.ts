import type { INestApplicationContext } from '@nestjs/common';
import { KeyReader } from '../keys/key-reader.service.js';
import { unknownKey } from '../auth/require-key.js';
import { ApiError } from '../http/api-error.js';
import { isUuid } from '../schemas/uuid.js';

/** These characters of an id are random; the first ones are its time. */
const ENDING_LENGTH = 8;
const ENDING = /^…?([0-9a-f-]{4,35})$/i;

/**
 * Returns the id of the key whose id is `text` or ends with it.
 *
 * @throws ApiError `not_found`; `invalid_request` if several ids end with it.
 */
export async function findKeyId(services: INestApplicationContext, text: string): Promise<string> {
  if (isUuid(text)) {
    return text;
  }
  const ending = ENDING.exec(text)?.[1]?.toLowerCase();
  const [id, ...others] = ending === undefined ? [] : await services.get(KeyReader).idsEndingWith(ending);
  if (id === undefined) {
    throw unknownKey(text);
  }
  if (others.length > 0) {
    const ids = [id, ...others].join(', ');
    throw new ApiError('invalid_request', `Several ids end with "${ending}": ${ids}. Give more of it.`);
  }
  return id;
}

/** Returns the id for an option or argument that may be left out. */
export async function findGivenKeyId(services: INestApplicationContext, text: string | undefined) {
  return text === undefined ? undefined : findKeyId(services, text);
}

/** Returns an id for a table: its ending on a terminal, else the whole. */
export function idCell(id: string): string {
  return process.stdout.isTTY ? `…${id.slice(-ENDING_LENGTH)}` : id;
}

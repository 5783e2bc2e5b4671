import type { INestApplicationContext } from '@nestjs/common';
import { endingOf, KeyLookup } from '../../admin/key-lookup.service.js';
import { ApiError } from '../../errors/api-error.js';
import { isUuid } from '../../schemas/uuid.js';
import { terminalColumns } from '../output/terminal.js';

/** The sign before the ending of an id, in tables and arguments. */
const CUT = '…';
const ENDING = /^…?([0-9a-f-]{4,35})$/i;

/**
 * Returns the id of the key whose id is `text` or ends with it. Returns `text` unchanged if no key matches.
 *
 * @throws ApiError `invalid_request` if several ids end with it.
 */
export async function keyIdOf(services: INestApplicationContext, text: string): Promise<string> {
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

/** Returns a function that formats ids: on a terminal the ending, if no other key has the same; otherwise the whole id. */
export async function idTexts(
  services: INestApplicationContext,
  ids: readonly string[],
): Promise<(id: string) => string> {
  if (terminalColumns() === null) {
    return (id) => id;
  }
  const shared = await services.get(KeyLookup).sharedEndings(ids);
  return (id) => (shared.has(endingOf(id)) ? id : CUT + endingOf(id));
}

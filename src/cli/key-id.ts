import type { INestApplicationContext } from '@nestjs/common';
import { findId } from './id-ending.js';

/** These characters of an id are random; the first ones are its time. */
const ENDING_LENGTH = 8;

/**
 * Returns the id of the key whose id is `text` or ends with it.
 *
 * @throws ApiError `not_found`; `invalid_request` if several ids end with it.
 */
export function findKeyId(services: INestApplicationContext, text: string): Promise<string> {
  return findId(services, 'key', text);
}

/** Returns the id for an option or argument that may be left out. */
export async function findGivenKeyId(services: INestApplicationContext, text: string | undefined) {
  return text === undefined ? undefined : findKeyId(services, text);
}

/** Returns an id for a table: its ending on a terminal, else the whole. */
export function idCell(id: string): string {
  return process.stdout.isTTY ? `…${id.slice(-ENDING_LENGTH)}` : id;
}

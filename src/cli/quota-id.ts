import type { INestApplicationContext } from '@nestjs/common';
import { findId } from './id-ending.js';

/**
 * Returns the id of the quota whose id is `text` or ends with it.
 *
 * @throws ApiError `not_found`; `invalid_request` if several ids end with it.
 */
export function findQuotaId(services: INestApplicationContext, text: string): Promise<string> {
  return findId(services, 'quota', text);
}

/** Returns the id for an option that may be left out. */
export async function findGivenQuotaId(services: INestApplicationContext, text: string | undefined) {
  return text === undefined ? undefined : findQuotaId(services, text);
}

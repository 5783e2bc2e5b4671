import type { Environment } from './environment.js';

/**
 * Returns the path of this environment's base address before `/v1`: a proxy removes it from requests, so it
 * stands before the path in every link. It is empty without such a proxy.
 */
export function publicPrefix({
  APP_ENV,
  PRODUCTION_URL,
  STAGING_URL,
}: Pick<Environment, 'APP_ENV' | 'PRODUCTION_URL' | 'STAGING_URL'>): string {
  const baseUrl = APP_ENV === 'production' ? PRODUCTION_URL : STAGING_URL;
  return new URL(baseUrl).pathname.replace(/\/v1$/, '');
}

import type { Environment } from './environment.js';

/** Returns the prefix that a proxy removes from paths, so links begin with it; empty without such a proxy. */
export function publicPrefix({
  APP_ENV,
  PRODUCTION_URL,
  STAGING_URL,
}: Pick<Environment, 'APP_ENV' | 'PRODUCTION_URL' | 'STAGING_URL'>): string {
  const baseUrl = APP_ENV === 'production' ? PRODUCTION_URL : STAGING_URL;
  return new URL(baseUrl).pathname.replace(/\/v1$/, '');
}

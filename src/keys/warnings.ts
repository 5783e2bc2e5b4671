import type { z } from 'zod';
import type { Limits } from '../schemas/limits.schema.js';
import { warnings } from '../schemas/warnings.js';

const CODES = ['forwarded_but_untrusted', 'minute_limit_above_day_limit'] as const;

/** What may be wrong with a key or a quota. */
export const keyWarnings = warnings(CODES, 'What may be wrong; empty if nothing is.');
type Warning = z.infer<typeof keyWarnings>[number];

/** Returns a warning of limits of which the minute's can never be reached. */
export function limitWarnings({ perMinute, perDay }: { [Name in keyof Limits]: number | null }): Warning[] {
  const message = 'The limit per minute is above that per day, so only the limit per day has an effect.';
  return perMinute !== null && perDay !== null && perMinute > perDay
    ? [{ code: 'minute_limit_above_day_limit', message }]
    : [];
}

/** Returns the warning of networks that are set behind a proxy which is not trusted; `ip` is its address. */
export function untrustedProxyWarning(ip: string): Warning {
  const message =
    'Requests carry X-Forwarded-For, but TRUST_PROXY is not set, so every client has the address of ' +
    `the proxy, here ${ip}.`;
  return { code: 'forwarded_but_untrusted', message };
}

import type { z } from 'zod';
import type { Limits } from '../schemas/limits.schema.js';
import { warnings } from '../schemas/warnings.js';

const CODES = ['forwarded_but_untrusted', 'minute_limit_above_day_limit'] as const;

export const keyWarnings = warnings(CODES, 'What may be wrong; empty if nothing is.');
type Warning = z.infer<typeof keyWarnings>[number];

/** Returns a warning if the limit per minute can never be reached. */
export function limitWarnings({ perMinute, perDay }: { [Name in keyof Limits]: number | null }): Warning[] {
  const message = 'The limit per minute is above that per day, so only the limit per day has an effect.';
  return perMinute !== null && perDay !== null && perMinute > perDay
    ? [{ code: 'minute_limit_above_day_limit', message }]
    : [];
}

/** Returns the warning of networks that are set behind an untrusted proxy, whose address is `ip`. */
export function untrustedProxyWarning(ip: string): Warning {
  const message =
    'Requests carry X-Forwarded-For, but TRUST_PROXY is not set, so every client has the address of ' +
    `the proxy, here ${ip}.`;
  return { code: 'forwarded_but_untrusted', message };
}

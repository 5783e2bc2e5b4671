import { z } from 'zod';
import type { Limits } from '../schemas/limits.schema.js';
import { plainText } from '../schemas/text-schemas.js';

const CODES = ['forwarded_but_untrusted', 'minute_limit_above_day_limit'] as const;
const MESSAGE_MAX_LENGTH = 1000;
const WARNINGS_MAX = 10;

/** What may be wrong, for people by its message and for programs by its code. */
export const warnings = z
  .object({
    code: z.enum(CODES).meta({ description: 'Identifies the warning.' }),
    message: plainText('What may be wrong, and what to do.', MESSAGE_MAX_LENGTH),
  })
  .array()
  .max(WARNINGS_MAX)
  .meta({ description: 'What may be wrong; empty if nothing is.' });
type Warning = z.infer<typeof warnings>[number];

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

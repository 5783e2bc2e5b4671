import { isIP } from 'node:net';
import pg from 'pg';
import { z } from 'zod';
import { toDriverAddress } from '../../../prisma/database-address.mjs';
import { DAY_MS } from '../time-units.js';
import { parseDuration } from './duration.js';
import { parseRedisAddresses } from './redis-address.js';

/** A setting that `parse` converts; null is reported by the message. */
const parsed = <Value>(parse: (text: string) => Value | null, message: (text: string) => string) =>
  z.string().transform((text, context) => {
    const value = parse(text);
    if (value === null) {
      context.addIssue({ code: 'custom', message: message(text) });
      return z.NEVER;
    }
    return value;
  });

const splitList = (text: string) => text.split(',').map((part) => part.trim());

/** Returns whether a text is an address or a network, even with a zone, which zod's types refuse. */
function isNetwork(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  return isIP(address) !== 0 && /^\d+$/.test(prefix) && Number(prefix) <= bits && rest.length === 0;
}

/** The number of proxies in front of this service, or their networks. */
export const trustProxy = parsed(
  (text) => {
    if (/^\d+$/.test(text)) {
      return Number(text);
    }
    const networks = splitList(text);
    return networks.every(isNetwork) ? networks : null;
  },
  (text) => `must be a number of proxies or a comma-separated list of networks, not "${text}"`,
);

const MAX_BAN_MS = 365 * DAY_MS;

/** The durations of successive bans, in milliseconds; an empty text turns bans off. */
export const banDurations = parsed(
  (text) => {
    const durationsMs =
      text.trim() === '' ? [] : splitList(text).map((duration) => parseDuration(duration) ?? 0);
    return durationsMs.every((ms) => ms > 0 && ms <= MAX_BAN_MS) ? durationsMs : null;
  },
  (text) =>
    'must be empty or a comma-separated list of durations from 1s to 365d such as 1m,5m,1h,24h, not ' +
    `"${text}"`,
);

/** A duration in these bounds, in milliseconds. */
export const duration = (from: string, to: string, example: string) => {
  const [fromMs, toMs] = [parseDuration(from) ?? 0, parseDuration(to) ?? 0];
  return parsed(
    (text) => {
      const durationMs = parseDuration(text) ?? -1;
      return durationMs >= fromMs && durationMs <= toMs ? durationMs : null;
    },
    (text) => `must be a duration from ${from} to ${to} such as ${example}, not "${text}"`,
  );
};

/**
 * Returns whether a text is an origin (RFC 6454), or stands for all subdomains of one, as
 * `https://*.shop.example` does.
 */
function isOrigin(text: string): boolean {
  const origin = text.replace('://*.', '://');
  if (!/^https?:[^*]+$/.test(origin) || !URL.canParse(origin)) {
    return false;
  }
  const { origin: normal, hostname } = new URL(origin);
  // An address has no subdomains.
  const isAddress = isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0;
  return normal === origin && (origin === text || !isAddress);
}

/** The origins whose pages may read responses in a browser, or `*`. */
export const origins = parsed(
  (text) => {
    const given = splitList(text);
    return text === '*' || given.every(isOrigin) ? given : null;
  },
  (text) =>
    'must be * or a comma-separated list of origins such as https://shop.example or ' +
    `https://*.shop.example, not "${text}"`,
);

export const baseUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
  // Links begin with it, so its path has no empty part.
  .regex(/^\w+:\/\/[^/?#]+(\/[^/?#]+)*\/v1$/, 'must end in /v1, and have no empty part in its path');

/** The contact for the service: a page or an e-mail address. */
export const contact = z.union([z.email(), z.url({ protocol: /^https?$/ })], {
  error: 'must be an e-mail address or an http(s) address',
});

export const wholeNumber = (from: number, to: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((value) => value >= from && value <= to, `must be a whole number from ${from} to ${to}`);

export const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

export const flag = oneOf(['true', 'false']).transform((text) => text === 'true');

/** A URL that the driver accepts. The check reads the certificate files that the URL names. */
export const postgresUrl = z
  .string()
  .transform(toDriverAddress)
  .pipe(
    z
      .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address', abort: true })
      .superRefine((connectionString, context) => {
        try {
          void new pg.Client({ connectionString });
        } catch (error) {
          context.addIssue({ code: 'custom', message: `cannot be used: ${(error as Error).message}` });
        }
      }),
  );

/** The address of the counter store. Messages omit it, because it may contain a password. */
export const redisAddresses = parsed(
  parseRedisAddresses,
  () =>
    'must be a redis:// or rediss:// address, those of several nodes of one Cluster with commas between, ' +
    'or redis+sentinel://HOST:PORT,HOST:PORT/NAME',
);

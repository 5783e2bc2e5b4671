import { isIP } from 'node:net';
import pg from 'pg';
import { z } from 'zod';
import { toDriverAddress } from '../../../prisma/database-address.mjs';
import { schemaOf } from '../../../prisma/session-settings.mjs';
import { parseDuration } from './duration.js';
import { loadEnvFile } from './env-file.js';
import { ignoreUnusable } from './open-telemetry.js';
import { parseRedisAddresses } from './redis-address.js';
import { resolveRenamedSettings } from './renamed-settings.js';
import { resolveSecretFiles } from './secret-files.js';
import { DAY_MS } from '../time-units.js';

/** A setting whose text `parse` converts; null is reported by the message. */
const parsedBy = <Value>(parse: (text: string) => Value | null, message: (text: string) => string) =>
  z.string().transform((text, context) => {
    const value = parse(text);
    if (value === null) {
      context.addIssue({ code: 'custom', message: message(text) });
      return z.NEVER;
    }
    return value;
  });

const splitList = (text: string) => text.split(',').map((part) => part.trim());

function isNetwork(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  return isIP(address) !== 0 && /^\d+$/.test(prefix) && Number(prefix) <= bits && rest.length === 0;
}

/** The number of proxies in front of this service, or their networks. */
const trustProxy = parsedBy(
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
const banDurations = parsedBy(
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
const duration = (from: string, to: string, example: string) => {
  const [fromMs, toMs] = [parseDuration(from) ?? 0, parseDuration(to) ?? 0];
  return parsedBy(
    (text) => {
      const durationMs = parseDuration(text) ?? -1;
      return durationMs >= fromMs && durationMs <= toMs ? durationMs : null;
    },
    (text) => `must be a duration from ${from} to ${to} such as ${example}, not "${text}"`,
  );
};

/** The time for load balancers to notice that a replica is no longer ready. */
const PRODUCTION_DELAY_MS = 5_000;

/**
 * Returns whether a text is an origin (RFC 6454), or stands for all subdomains of one, as
 * `https://*.shop.example` does.
 */
function isOrigin(text: string): boolean {
  const origin = text.replace('://*.', '://');
  if (!/^https?:[^*]+$/.test(origin) || !URL.canParse(origin)) {
    return false;
  }
  const { origin: parsed, hostname } = new URL(origin);
  // An address has no subdomains.
  const isAddress = isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0;
  return parsed === origin && (origin === text || !isAddress);
}

/** The origins whose pages may read responses in a browser, or `*`. */
const origins = parsedBy(
  (text) => {
    const given = splitList(text);
    return text === '*' || given.every(isOrigin) ? given : null;
  },
  (text) =>
    'must be * or a comma-separated list of origins such as https://shop.example or ' +
    `https://*.shop.example, not "${text}"`,
);

const baseUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
  // Without empty parts of the path, as links begin with it.
  .regex(/^\w+:\/\/[^/?#]+(\/[^/?#]+)*\/v1$/, 'must end in /v1, and have no empty part in its path');

/** The contact for the service: a page or an e-mail address. */
const contact = z.union([z.email(), z.url({ protocol: /^https?$/ })], {
  error: 'must be an e-mail address or an http(s) address',
});

const wholeNumber = (from: number, to: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((value) => value >= from && value <= to, `must be a whole number from ${from} to ${to}`);

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

/** A URL that the driver accepts. The check reads the certificate files that the URL names. */
const postgresUrl = z
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

/**
 * The Redis server, nodes of the Cluster, or Sentinels, of the counter store. Messages omit it, because it
 * may contain a password.
 */
const redisAddresses = parsedBy(
  parseRedisAddresses,
  () =>
    'must be a redis:// or rediss:// address, those of several nodes of one Cluster with commas ' +
    'between, or ' +
    'redis+sentinel://HOST:PORT,HOST:PORT/NAME',
);

/** Every setting with its default and validation. `.env.example` explains them. */
export const settings = z.object({
  NODE_ENV: oneOf(['production', 'development', 'test']).default('development'),
  APP_ENV: oneOf(['production', 'staging']).optional(),
  HOST: z.string().min(1, 'must not be empty').optional(),
  PORT: wholeNumber(0, 65_535).default(3000),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  DATABASE_URL: postgresUrl.optional(),
  DIRECT_DATABASE_URL: postgresUrl.optional(),
  DATABASE_POOL_SIZE: wholeNumber(2, 1000).default(12),
  MAX_CONCURRENT_REQUESTS_PER_OPERATION: wholeNumber(1, 100_000).default(250),
  COUNTER_STORE_URL: redisAddresses.optional(),
  DATA_DIR: z.string().min(1, 'must not be empty').default('.data'),
  ADMIN_API_KEY: z.string().optional(),
  PRODUCTION_URL: baseUrl.default('https://api.animal-store.example/v1'),
  STAGING_URL: baseUrl.default('https://staging.animal-store.example/v1'),
  CONTACT: contact.optional(),
  ANONYMOUS_LIMIT: wholeNumber(1, 1_000_000).default(300),
  BAN_DURATIONS: banDurations.prefault('1m,5m,1h,24h'),
  // The console shows the minutes of two days, and a whole UTC day is within them; `what-if` reads those
  // of 30.
  USAGE_MINUTE_RETENTION: duration('2d', '30d', '48h').prefault('3d'),
  EXPERIMENTAL: oneOf(['true', 'false']).optional(),
  CORS_ORIGINS: origins.optional(),
  TRUST_PROXY: trustProxy.optional(),
  // Traefik and Go's clients keep idle connections for 90 seconds.
  KEEP_ALIVE_TIMEOUT: duration('1s', '2h', '620s').prefault('100s'),
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: oneOf(['true', 'false'])
    .prefault('false')
    .transform((text) => text === 'true'),
  // `ignoreUnusable` has checked these.
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.string().optional(),
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.string().optional(),
  SHUTDOWN_DELAY: duration('0s', '1h', '10s').optional(),
  SHUTDOWN_GRACE: duration('1s', '1h', '10s').prefault('10s'),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

type Settings = z.infer<typeof settings>;

/** The settings, with the defaults that depend on other settings. */
export interface Environment extends Omit<Settings, 'EXPERIMENTAL'> {
  APP_ENV: 'production' | 'staging';
  HOST: string;
  EXPERIMENTAL: boolean;
  SHUTDOWN_DELAY: number;
}

/** Dependency-injection token of the `Environment`. */
export const ENVIRONMENT = Symbol('environment');

/** Thrown for invalid settings. The message has a line for each, with its name. */
export class InvalidEnvironmentError extends Error {}

/**
 * Reads the settings. An empty variable counts as not set, as in Compose and `.env` files, except for
 * BAN_DURATIONS, where it turns bans off.
 *
 * @param variables loses those of OpenTelemetry that cannot be used.
 * @param warnings gets a line for each setting that should be renamed.
 * @param tracingWarnings gets a line for each lost variable.
 * @throws InvalidEnvironmentError that names every invalid setting.
 */
export function readEnvironment(
  variables: NodeJS.ProcessEnv,
  warnings: string[] = [],
  tracingWarnings: string[] = [],
): Environment {
  ignoreUnusable(variables, tracingWarnings);
  const set = Object.fromEntries(
    Object.entries(variables).filter(([name, value]) => value !== '' || name === 'BAN_DURATIONS'),
  );
  const faults: string[] = [];
  const given = resolveSecretFiles(resolveRenamedSettings(set, warnings), faults);
  const result = settings.safeParse(given);
  faults.push(...(result.error?.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`) ?? []));
  // A setting whose file cannot be read still counts as set.
  const embedded = (given['DATABASE_URL'] ?? given['DATABASE_URL_FILE']) === undefined;
  if (embedded && given['NODE_ENV'] === 'production') {
    faults.push('DATABASE_URL is required when NODE_ENV is production');
  }
  if (embedded && given['DIRECT_DATABASE_URL'] !== undefined) {
    // Otherwise changes would be expected from a database that is not in use.
    faults.push('DIRECT_DATABASE_URL needs DATABASE_URL: it is another way to the same database');
  }
  const { DATABASE_URL, DIRECT_DATABASE_URL = DATABASE_URL } = result.data ?? {};
  if (schemaOf(DATABASE_URL) !== schemaOf(DIRECT_DATABASE_URL)) {
    faults.push(
      'DIRECT_DATABASE_URL must have the same ?schema= as DATABASE_URL: both lead to the same tables',
    );
  }
  if (!embedded && given['APP_ENV'] === undefined) {
    faults.push('APP_ENV is required with DATABASE_URL: production or staging');
  }
  const { PORT, METRICS_PORT } = result.data ?? {};
  // With 0, each gets its own free port.
  if (METRICS_PORT !== undefined && METRICS_PORT !== 0 && METRICS_PORT === PORT) {
    faults.push('METRICS_PORT must be another port than PORT: metrics are not for clients');
  }
  const { SHUTDOWN_DELAY: delayMs = 0, SHUTDOWN_GRACE: graceMs = 0 } = result.data ?? {};
  if (delayMs > graceMs / 2) {
    faults.push('SHUTDOWN_DELAY must be at most half of SHUTDOWN_GRACE: the rest is for requests in flight');
  }
  if (!result.success || faults.length > 0) {
    // A fault has the new name of a setting, which its owner may not have seen yet.
    throw new InvalidEnvironmentError([...faults, ...warnings].join('\n'));
  }
  const read = result.data;
  const { APP_ENV = 'staging', HOST = embedded ? '127.0.0.1' : '::' } = read;
  const EXPERIMENTAL = read.EXPERIMENTAL === undefined ? APP_ENV === 'staging' : read.EXPERIMENTAL === 'true';
  const defaultDelayMs = read.NODE_ENV === 'production' ? Math.min(PRODUCTION_DELAY_MS, graceMs / 2) : 0;
  return { ...read, APP_ENV, HOST, EXPERIMENTAL, SHUTDOWN_DELAY: read.SHUTDOWN_DELAY ?? defaultDelayMs };
}

/**
 * Reads the settings of this process from its variables, and those that are not set from the file `.env`.
 *
 * @param warnings gets a line for each setting that should be renamed.
 * @param tracingWarnings gets a line for each variable of OpenTelemetry that is ignored.
 * @throws InvalidEnvironmentError that names every invalid setting.
 */
export function readProcessEnvironment(warnings: string[], tracingWarnings: string[] = []): Environment {
  const faults: string[] = [];
  loadEnvFile('.env', faults);
  if (faults.length > 0) {
    throw new InvalidEnvironmentError(faults.join('\n'));
  }
  return readEnvironment(process.env, warnings, tracingWarnings);
}

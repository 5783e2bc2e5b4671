import { z } from 'zod';
import { schemaOf } from '../../../prisma/database-address.mjs';
import { loadEnvFile } from './env-file.js';
import { ignoreUnusable } from './open-telemetry.js';
import { resolveRenamedSettings } from './renamed-settings.js';
import { resolveSecretFiles } from './secret-files.js';
import {
  banDurations,
  baseUrl,
  contact,
  duration,
  flag,
  oneOf,
  origins,
  postgresUrl,
  redisAddresses,
  trustProxy,
  wholeNumber,
} from './setting-types.js';

/** The time for load balancers to notice that a replica is no longer ready. */
const PRODUCTION_DELAY_MS = 5_000;

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
  FAILED_REQUEST_RETENTION: duration('0', '7d', '24h').prefault('24h'),
  /** Without it, they are kept for ever. */
  AUDIT_RETENTION: duration('1d', '3650d', '365d').optional(),
  EXPERIMENTAL: flag.optional(),
  CORS_ORIGINS: origins.optional(),
  TRUST_PROXY: trustProxy.optional(),
  // Traefik and Go's clients keep idle connections for 90 seconds.
  KEEP_ALIVE_TIMEOUT: duration('1s', '2h', '620s').prefault('100s'),
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: flag.prefault('false'),
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

function withDefaults(read: z.infer<typeof settings>) {
  const { APP_ENV = 'staging', HOST = read.DATABASE_URL === undefined ? '127.0.0.1' : '::' } = read;
  const defaultDelayMs =
    read.NODE_ENV === 'production' ? Math.min(PRODUCTION_DELAY_MS, read.SHUTDOWN_GRACE / 2) : 0;
  const { EXPERIMENTAL = APP_ENV === 'staging', SHUTDOWN_DELAY = defaultDelayMs } = read;
  return { ...read, APP_ENV, HOST, EXPERIMENTAL, SHUTDOWN_DELAY };
}

export type Environment = ReturnType<typeof withDefaults>;

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
  return withDefaults(result.data);
}

/** Does what `readEnvironment` does, of this process and, for what it lacks, of the file `.env`. */
export function readProcessEnvironment(warnings: string[], tracingWarnings: string[] = []): Environment {
  const faults: string[] = [];
  loadEnvFile('.env', faults);
  if (faults.length > 0) {
    throw new InvalidEnvironmentError(faults.join('\n'));
  }
  return readEnvironment(process.env, warnings, tracingWarnings);
}

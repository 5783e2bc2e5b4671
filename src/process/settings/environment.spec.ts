import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Environment, InvalidEnvironmentError, readEnvironment, settings } from './environment.js';
import { SECRETS } from './secret-files.js';

const DATABASE_URL = 'postgresql://store:secret@db.example:5432/store';

/** Returns the lines of the error; none when the settings are valid. */
function faults(variables: Record<string, string>): string[] {
  try {
    readEnvironment(variables);
    return [];
  } catch (error) {
    return error instanceof InvalidEnvironmentError ? error.message.split('\n') : [String(error)];
  }
}

describe('readEnvironment', () => {
  it('returns defaults for a service with an embedded database', () => {
    expect(readEnvironment({})).toEqual({
      NODE_ENV: 'development',
      APP_ENV: 'staging',
      HOST: '127.0.0.1',
      PORT: 3000,
      DATABASE_POOL_SIZE: 12,
      MAX_CONCURRENT_REQUESTS_PER_OPERATION: 250,
      DATA_DIR: '.data',
      PRODUCTION_URL: 'https://api.animal-store.example/v1',
      STAGING_URL: 'https://staging.animal-store.example/v1',
      ANONYMOUS_LIMIT: 300,
      BAN_DURATIONS: [60_000, 300_000, 3_600_000, 86_400_000],
      USAGE_MINUTE_RETENTION: 259_200_000,
      FAILED_REQUEST_RETENTION: 86_400_000,
      EXPERIMENTAL: true,
      KEEP_ALIVE_TIMEOUT: 100_000,
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: false,
      SHUTDOWN_DELAY: 0,
      SHUTDOWN_GRACE: 10_000,
      LOG_LEVEL: 'info',
    });
  });

  it('returns the given settings, with numbers parsed', () => {
    const given = {
      NODE_ENV: 'production',
      APP_ENV: 'production',
      HOST: '::',
      PORT: '8080',
      METRICS_PORT: '9464',
      DATABASE_URL,
      DIRECT_DATABASE_URL: 'postgresql://store:secret@db.example:6432/store',
      DATABASE_POOL_SIZE: '25',
      MAX_CONCURRENT_REQUESTS_PER_OPERATION: '300',
      COUNTER_STORE_URL: 'rediss://store:secret@cache.example:6380/1',
      DATA_DIR: '/var/lib/store',
      PRODUCTION_URL: 'https://example.com/shop/v1',
      STAGING_URL: 'http://localhost:3000/v1',
      ANONYMOUS_LIMIT: '1000000',
      BAN_DURATIONS: '30s',
      USAGE_MINUTE_RETENTION: '48h',
      FAILED_REQUEST_RETENTION: '0',
      AUDIT_RETENTION: '365d',
      EXPERIMENTAL: 'true',
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
      CORS_ORIGINS: 'https://shop.example, http://localhost:5173',
      TRUST_PROXY: '2',
      KEEP_ALIVE_TIMEOUT: '620s',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/v1/traces',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_SDK_DISABLED: 'false',
      SHUTDOWN_DELAY: '15s',
      SHUTDOWN_GRACE: '1m',
      LOG_LEVEL: 'silent',
    };
    expect(readEnvironment(given)).toEqual({
      ...given,
      PORT: 8080,
      METRICS_PORT: 9464,
      DATABASE_POOL_SIZE: 25,
      MAX_CONCURRENT_REQUESTS_PER_OPERATION: 300,
      COUNTER_STORE_URL: [
        { host: 'cache.example', port: 6380, tls: true, username: 'store', password: 'secret', db: 1 },
      ],
      ANONYMOUS_LIMIT: 1_000_000,
      EXPERIMENTAL: true,
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true,
      CORS_ORIGINS: ['https://shop.example', 'http://localhost:5173'],
      BAN_DURATIONS: [30_000],
      USAGE_MINUTE_RETENTION: 172_800_000,
      FAILED_REQUEST_RETENTION: 0,
      AUDIT_RETENTION: 31_536_000_000,
      TRUST_PROXY: 2,
      KEEP_ALIVE_TIMEOUT: 620_000,
      SHUTDOWN_DELAY: 15_000,
      SHUTDOWN_GRACE: 60_000,
    });
  });

  it('treats empty settings as not set, and ignores other variables', () => {
    const empty = Object.fromEntries(
      Object.keys(settings.shape).map((name) => [name, name === 'BAN_DURATIONS' ? undefined : '']),
    );
    expect(readEnvironment({ ...empty, PATH: '/usr/bin' })).toEqual(readEnvironment({}));
  });

  const range = (from: number, to: number) => `must be a whole number from ${from} to ${to}`;
  const ADDRESS = 'must be an http(s) address';
  it.each([
    ['NODE_ENV', 'prod', 'must be one of production, development, test'],
    ['APP_ENV', 'test', 'must be one of production, staging'],
    ...['http', '65536', '-1', '80.5', '0x50'].map((port) => ['PORT', port, range(0, 65535)]),
    ['DATABASE_URL', 'mysql://store:secret@db.example/store', 'must be a postgres:// address'],
    ['DATABASE_POOL_SIZE', '1', range(2, 1000)],
    ['MAX_CONCURRENT_REQUESTS_PER_OPERATION', '0', range(1, 100_000)],
    [
      'COUNTER_STORE_URL',
      'http://store:secret@cache.example',
      'must be a redis:// or rediss:// address, those of several nodes of one Cluster with commas ' +
        'between, or ' +
        'redis+sentinel://HOST:PORT,HOST:PORT/NAME',
    ],
    ['PRODUCTION_URL', 'https://api.example.com/v1/', 'must end in /v1, and have no empty part in its path'],
    [
      'PRODUCTION_URL',
      'https://api.example.com//shop/v1',
      'must end in /v1, and have no empty part in its path',
    ],
    [
      'PRODUCTION_URL',
      'https://api.example.com/shop/?base=/v1',
      'must end in /v1, and have no empty part in its path',
    ],
    ['STAGING_URL', 'ftp://staging.example.com/v1', ADDRESS],
    ['CONTACT', 'nobody', 'must be an e-mail address or an http(s) address'],
    ['ANONYMOUS_LIMIT', '0', range(1, 1_000_000)],
    ...['47h', '31d', '30', 'long'].map((text) => [
      'USAGE_MINUTE_RETENTION',
      text,
      `must be a duration from 2d to 30d such as 48h, not "${text}"`,
    ]),
    ['EXPERIMENTAL', 'yes', 'must be one of true, false'],
    ['SHUTDOWN_DELAY', '5', 'must be a duration from 0s to 1h such as 10s, not "5"'],
    ['SHUTDOWN_GRACE', '0', 'must be a duration from 1s to 1h such as 10s, not "0"'],
    ['SHUTDOWN_DELAY', '6s', 'must be at most half of SHUTDOWN_GRACE: the rest is for requests in flight'],
    ['LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent'],
    ['METRICS_PORT', '3000', 'must be another port than PORT: metrics are not for clients'],
  ] as [string, string, string][])(
    'reports one line that names the setting for %s "%s"',
    (name, value, fault) => {
      expect(faults({ APP_ENV: 'staging', [name]: value })).toEqual([`${name} ${fault}`]);
    },
  );

  it('names every invalid setting, and those that are missing', () => {
    const named = (variables: Record<string, string>) =>
      new Set(faults({ PORT: 'x', ...variables }).map((line) => line.split(' ')[0]));
    expect(named({ LOG_LEVEL: 'y', TRUST_PROXY: 'z' })).toEqual(
      new Set(['PORT', 'LOG_LEVEL', 'TRUST_PROXY']),
    );
    expect(named({ NODE_ENV: 'production' })).toEqual(new Set(['PORT', 'DATABASE_URL']));
    expect(named({ DATABASE_URL })).toEqual(new Set(['PORT', 'APP_ENV']));
  });
});

describe('DATABASE_URL', () => {
  it.each([
    [
      'it is missing in production',
      { NODE_ENV: 'production', APP_ENV: 'production' },
      'DATABASE_URL is required when NODE_ENV is production',
    ],
    [
      'APP_ENV is missing, so the environment of its keys is unknown',
      { DATABASE_URL },
      'APP_ENV is required with DATABASE_URL: production or staging',
    ],
    [
      'only DIRECT_DATABASE_URL is set',
      { DIRECT_DATABASE_URL: DATABASE_URL },
      'DIRECT_DATABASE_URL needs DATABASE_URL: it is another way to the same database',
    ],
    [
      'DATABASE_URL and DIRECT_DATABASE_URL name different schemas',
      { APP_ENV: 'staging', DATABASE_URL: `${DATABASE_URL}?schema=shop`, DIRECT_DATABASE_URL: DATABASE_URL },
      'DIRECT_DATABASE_URL must have the same ?schema= as DATABASE_URL: both lead to the same tables',
    ],
  ])('is reported with one line if %s', (_case, variables, fault) => {
    expect(faults(variables)).toEqual([fault]);
  });
});

describe('a secret in a file', () => {
  const values = {
    DATABASE_URL,
    DIRECT_DATABASE_URL: DATABASE_URL,
    COUNTER_STORE_URL: 'redis://store:secret@cache.example',
    ADMIN_API_KEY: 'ask_live_secret',
  };
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'animal-store-secrets-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function file(name: string, text: string): string {
    const full = path.join(folder, name);
    writeFileSync(full, text);
    return full;
  }

  it.each(SECRETS)('sets %s, without white space and byte order mark around it', (name) => {
    const { [name]: _, ...rest } = values;
    const others = { APP_ENV: 'production', ...rest };
    const expected = readEnvironment({ ...values, APP_ENV: 'production' });
    const value = values[name];
    for (const text of [value, `${value}\n`, `\uFEFF${value}\r\n`, ` ${value} \n\n`]) {
      const given = { ...others, [`${name}_FILE`]: file(name, text) };
      expect(readEnvironment(given)).toEqual(expected);
    }
  });

  it('is ignored when its name is empty, and used when the variable is empty', () => {
    const DATABASE_URL_FILE = file('url', DATABASE_URL);
    const given = { APP_ENV: 'staging', DATABASE_URL };
    const expected = readEnvironment(given);
    expect(readEnvironment({ ...given, DATABASE_URL_FILE: '' })).toEqual(expected);
    expect(readEnvironment({ ...given, DATABASE_URL: '', DATABASE_URL_FILE })).toEqual(expected);
  });

  it.each<[string, Record<string, string>, string, string]>([
    [
      'the variable is set too',
      { DATABASE_URL },
      'url',
      'DATABASE_URL and DATABASE_URL_FILE are both set: give one of them',
    ],
    ['it is missing', {}, 'missing', 'DATABASE_URL_FILE FILE cannot be read: it does not exist'],
    ['it is a folder', {}, '.', 'DATABASE_URL_FILE FILE cannot be read: it is a folder'],
    ['it is empty', {}, 'empty', 'DATABASE_URL_FILE FILE is empty'],
    ['its value is invalid, which is not shown', {}, 'invalid', 'DATABASE_URL must be a postgres:// address'],
  ])('is rejected with one line when %s', (_name, variables, name, fault) => {
    file('url', DATABASE_URL);
    file('empty', '\n');
    file('invalid', 'mysql://store:secret@db.example/store');
    const DATABASE_URL_FILE = path.join(folder, name);
    const lines = faults({ APP_ENV: 'staging', DATABASE_URL_FILE, ...variables });
    expect(lines).toEqual([fault.replace('FILE FILE', `FILE ${DATABASE_URL_FILE}`)]);
  });
});

describe('a setting that was renamed', () => {
  /** Returns the settings and the warnings. */
  function read(variables: Record<string, string>) {
    const warnings: string[] = [];
    return { environment: readEnvironment(variables, warnings), warnings };
  }

  it.each([
    ['COUNTER_STORE', 'COUNTER_STORE_URL', 'redis://cache.example'],
    ['MAX_CONCURRENT_REQUESTS', 'MAX_CONCURRENT_REQUESTS_PER_OPERATION', '10'],
    ['USAGE_MINUTES_KEPT', 'USAGE_MINUTE_RETENTION', '30d'],
    ['WEBHOOK_PRIVATE_ADDRESSES', 'WEBHOOK_ALLOW_PRIVATE_ADDRESSES', 'true'],
  ])('is read by its earlier name %s, with a warning', (earlier, name, value) => {
    const { environment } = read({ [name]: value });
    expect(environment).not.toEqual(readEnvironment({}));
    const warnings = [`The setting ${earlier} is now ${name}: rename it.`];
    expect(read({ [earlier]: value })).toEqual({ environment, warnings });
    expect(read({ [earlier]: value, [name]: '' })).toEqual({ environment, warnings });
  });

  it('causes no warning under its name of today, or if its earlier name is empty', () => {
    const none = { environment: readEnvironment({}), warnings: [] };
    expect(read({ COUNTER_STORE: '', COUNTER_STORE_FILE: '', USAGE_MINUTE_RETENTION: '3d' })).toEqual(none);
  });

  const FILE = path.join(tmpdir(), `animal-store-counter-store-${process.pid}`);
  const [TODAY, EARLIER] = ['redis://today.example', 'redis://earlier.example'];

  it.each<[string, Record<string, string>, string, string]>([
    [
      'in a file, with a warning, if no other name is set',
      { COUNTER_STORE_FILE: FILE },
      'earlier.example',
      'The setting COUNTER_STORE_FILE is now COUNTER_STORE_URL_FILE: rename it.',
    ],
    [
      'not at all if it is set under its name of today, with a warning',
      { COUNTER_STORE: EARLIER, COUNTER_STORE_URL: TODAY },
      'today.example',
      'The setting COUNTER_STORE is now COUNTER_STORE_URL, and is ignored, because COUNTER_STORE_URL is ' +
        'set: remove it.',
    ],
    [
      'not at all if a file of its name of today is set, with a warning',
      { COUNTER_STORE: TODAY, COUNTER_STORE_URL_FILE: FILE },
      'earlier.example',
      'The setting COUNTER_STORE is now COUNTER_STORE_URL, and is ignored, because COUNTER_STORE_URL_FILE ' +
        'is set: remove it.',
    ],
    [
      'not in a file if it is set under its name of today, with a warning',
      { COUNTER_STORE_FILE: FILE, COUNTER_STORE_URL: TODAY },
      'today.example',
      'The setting COUNTER_STORE_FILE is now COUNTER_STORE_URL_FILE, and is ignored, because ' +
        'COUNTER_STORE_URL is set: remove it.',
    ],
  ])('is read by its earlier name %s', (_when, variables, host, warning) => {
    writeFileSync(FILE, EARLIER);
    try {
      const { environment, warnings } = read(variables);
      expect(environment.COUNTER_STORE_URL).toMatchObject([{ host }]);
      expect(warnings).toEqual([warning]);
    } finally {
      rmSync(FILE);
    }
  });

  it('is reported by both names if its value is invalid', () => {
    expect(faults({ USAGE_MINUTES_KEPT: '1d' })).toEqual([
      'USAGE_MINUTE_RETENTION must be a duration from 2d to 30d such as 48h, not "1d"',
      'The setting USAGE_MINUTES_KEPT is now USAGE_MINUTE_RETENTION: rename it.',
    ]);
  });
});

describe('a setting', () => {
  const staging = { APP_ENV: 'staging', DATABASE_URL };
  const production = { NODE_ENV: 'production', APP_ENV: 'production', DATABASE_URL };

  it.each<[string, unknown, Record<string, string>]>([
    ['METRICS_PORT', 0, { PORT: '0', METRICS_PORT: '0' }],
    ['SHUTDOWN_DELAY', 5_000, production],
    ['SHUTDOWN_DELAY', 2_000, { ...production, SHUTDOWN_GRACE: '4s' }],
    ['SHUTDOWN_DELAY', 0, { ...production, SHUTDOWN_DELAY: '0' }],
    ['HOST', '::', staging],
    ['HOST', '0.0.0.0', { ...staging, HOST: '0.0.0.0' }],
    ['HOST', '10.0.0.5', { ...staging, HOST: '10.0.0.5' }],
    ['HOST', '127.0.0.1', { APP_ENV: 'production' }],
    ['EXPERIMENTAL', true, staging],
    ['EXPERIMENTAL', false, { ...staging, EXPERIMENTAL: 'false' }],
    ['EXPERIMENTAL', false, { APP_ENV: 'production', DATABASE_URL }],
    ['EXPERIMENTAL', true, { APP_ENV: 'production', DATABASE_URL, EXPERIMENTAL: 'true' }],
    ['CORS_ORIGINS', undefined, {}],
    ['CORS_ORIGINS', ['*'], { CORS_ORIGINS: '*' }],
    ['CORS_ORIGINS', ['https://*.shop.example:8443'], { CORS_ORIGINS: 'https://*.shop.example:8443' }],
    ['TRUST_PROXY', 0, { TRUST_PROXY: '0' }],
    ['TRUST_PROXY', 12, { TRUST_PROXY: '12' }],
    ['TRUST_PROXY', ['10.0.0.1'], { TRUST_PROXY: '10.0.0.1' }],
    ['TRUST_PROXY', ['10.0.0.0/8', '2001:db8::/32'], { TRUST_PROXY: '10.0.0.0/8, 2001:db8::/32' }],
    ['BAN_DURATIONS', [90_000, 172_800_000], { BAN_DURATIONS: '90s, 2d' }],
    ['BAN_DURATIONS', [1000], { BAN_DURATIONS: '1s' }],
    ['BAN_DURATIONS', [31_536_000_000], { BAN_DURATIONS: '365d' }],
    ['BAN_DURATIONS', [], { BAN_DURATIONS: '' }],
  ])('%s is %j if the variables are %j', (name, value, variables) => {
    expect(readEnvironment(variables)[name as keyof Environment]).toEqual(value);
  });

  const ORIGINS =
    '* or a comma-separated list of origins such as https://shop.example or https://*.shop.example';
  const DURATIONS = 'empty or a comma-separated list of durations from 1s to 365d such as 1m,5m,1h,24h';
  it.each([
    [
      'CORS_ORIGINS',
      ORIGINS,
      'shop.example https://shop.example/ https://SHOP.example ftp://shop.example null , https://* ' +
        'https://*. https://*shop.example ' +
        'https://a.*.example https://*.*.example https://shop.* *.shop.example https://*.192.0.2.1 ' +
        'https://*.[::1]',
    ],
    [
      'TRUST_PROXY',
      'a number of proxies or a comma-separated list of networks',
      'true -1 1.5 10.0.0.0/33 2001:db8::/129 10.0.0.0/ 10.0.0.0/8/8 10.0.0/8 10.0.0.1, , ' +
        'proxy.example 10.0.0.1_10.0.0.2',
    ],
    ['BAN_DURATIONS', DURATIONS, '60 0s 366d 1m, ,1m , none 1m_5m 1m;5m'],
  ])('%s must be %s, and is rejected if it is one of: %s', (name, what, values) => {
    for (const value of values.split(' ').map((each) => each.replace('_', ' '))) {
      expect(faults({ [name]: value })).toEqual([`${name} must be ${what}, not "${value}"`]);
    }
  });
});

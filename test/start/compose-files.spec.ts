import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { settings } from '../../src/settings/environment.js';
import { SECRETS } from '../../src/settings/secret-files.js';
import { type ComposeFile, readComposeFile } from '../image/support/compose-file.js';

const ROOT = path.join(__dirname, '..', '..');
const FILES = ['docker-compose.yml', 'docker-compose.secrets.yml'];

/** The schema of the Compose specification, from the linter `dclint`. */
function readSchema(): object {
  const folder = path.dirname(createRequire(__filename).resolve('dclint/package.json'));
  const text = readFileSync(path.join(folder, 'schemas', 'compose.schema.json'), 'utf8');
  // Ajv does not recognise the address of its own dialect, so it is left out.
  const { $schema: _, ...schema } = JSON.parse(text);
  return schema;
}

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);

/** Variables that OpenTelemetry's SDK reads itself: the usual ones that need no file. */
const OPEN_TELEMETRY = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_SDK_DISABLED',
];

/** The variables of the service, and of PostgreSQL's image. */
const SETTINGS = [
  ...Object.keys(settings.shape),
  ...SECRETS.map((name) => `${name}_FILE`),
  ...OPEN_TELEMETRY,
];
const POSTGRES_SETTINGS = ['POSTGRES_DB', 'POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_PASSWORD_FILE'];

/** Variables of other services: the port of the balancer, and what is seeded. */
const OTHER_SERVICES = ['PORT', 'ADMIN_API_KEY'];

describe.each(FILES)('%s', (file) => {
  it('is valid by the schema of the Compose specification', () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const validate = ajv.compile(readSchema());
    const isValid = validate(parse(read(file), { merge: true }));
    expect({ isValid, errors: validate.errors }).toEqual({ isValid: true, errors: null });
  });

  it('sets only variables that are settings', () => {
    const { services } = parse(read(file), { merge: true }) as ComposeFile;
    for (const [name, { environment = {} }] of Object.entries(services)) {
      const known = name === 'postgres' ? POSTGRES_SETTINGS : SETTINGS;
      expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
    }
  });
});

describe('docker-compose.yml', () => {
  it('passes every setting on from .env, except those that docs/deploying.md lists as ignored', () => {
    const { services } = parse(read('docker-compose.yml'), { merge: true }) as ComposeFile;
    const environment = services['api']?.environment ?? {};
    const takesFrom = ([name, value]: [string, string | number | null]) =>
      value === null || String(value).includes(`\${${name}`);
    const passed = Object.entries(environment)
      .filter(takesFrom)
      .map(([name]) => name);
    const [, list = ''] =
      /Compose ignores these in `\.env`: ([^]*?)\.\n/.exec(read('docs/deploying.md')) ?? [];
    const ignored = namesIn(list, /`(\w+)`/g);
    const all = [...new Set([...Object.keys(settings.shape), ...OPEN_TELEMETRY])];
    expect([...passed, ...ignored, ...OTHER_SERVICES].toSorted()).toEqual(all.toSorted());
  });

  it('uses no variable of .env that .env.example does not explain', () => {
    const taken = FILES.flatMap((file) => namesIn(read(file), /\$\{(\w+)/g));
    const explained = namesIn(read('.env.example'), /^(?:# )?(\w+)=/gm);
    expect(taken.filter((name) => !explained.includes(name))).toEqual([]);
  });

  it('passes on what .env sets, and leaves the defaults of the rest to the service', async () => {
    const file = path.join(ROOT, 'docker-compose.yml');
    const bare = await readComposeFile(file);
    expect(bare.services['api']?.environment).toEqual({
      APP_ENV: 'production',
      DATABASE_URL: 'postgres://animal_store:animal_store@postgres:5432/animal_store',
      TRUST_PROXY: '1',
    });
    const set = await readComposeFile(file, {
      APP_ENV: 'staging',
      POSTGRES_PASSWORD: 'secret',
      BAN_DURATIONS: '',
      LOG_LEVEL: 'warn',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
      STOP_GRACE_PERIOD: '65s',
    });
    expect([bare, set].map(({ services }) => services['api']?.stop_grace_period)).toEqual(['15s', '65s']);
    expect(set.services['api']?.environment).toEqual({
      APP_ENV: 'staging',
      DATABASE_URL: 'postgres://animal_store:secret@postgres:5432/animal_store',
      TRUST_PROXY: '1',
      BAN_DURATIONS: '',
      LOG_LEVEL: 'warn',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
    });
  });
});

describe('docker-compose.secrets.yml', () => {
  const file = path.join(ROOT, 'docker-compose.secrets.yml');

  it('reads the first key and the address of the counters from files that .env names, and otherwise changes nothing', async () => {
    const files = { ADMIN_API_KEY_FILE: './secrets/admin', COUNTER_STORE_FILE: './secrets/counters' };
    const set = await readComposeFile(file, files);
    expect(set.secrets).toMatchObject({
      'admin-api-key': { file: './secrets/admin' },
      'counter-store': { file: './secrets/counters' },
    });
    expect(set.services['migrate']).toMatchObject({
      environment: { ADMIN_API_KEY_FILE: '/run/secrets/admin-api-key' },
      secrets: ['database-url', 'admin-api-key'],
    });
    expect(set.services['api']).toMatchObject({
      environment: { COUNTER_STORE_FILE: '/run/secrets/counter-store' },
      secrets: ['database-url', 'counter-store'],
    });
    const bare = await readComposeFile(file);
    expect(bare.services['migrate']?.environment).toMatchObject({ ADMIN_API_KEY_FILE: '' });
    expect(bare.services['api']?.environment).toMatchObject({ COUNTER_STORE_FILE: '' });
    expect(bare.secrets).toMatchObject({
      'admin-api-key': { file: '/dev/null' },
      'counter-store': { file: '/dev/null' },
    });
  });
});

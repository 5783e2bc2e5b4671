import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { settings } from '../../src/process/settings/environment.js';
import { RENAMED_SETTINGS } from '../../src/process/settings/renamed-settings.js';
import { SECRETS } from '../../src/process/settings/secret-files.js';
import { type ComposeFile, readComposeFile } from './compose-file.js';

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

/** Earlier names of settings; of a secret in a file, `.env` never had that of the service. */
const EARLIER_NAMES = Object.keys(RENAMED_SETTINGS).filter((name) => !name.endsWith('_FILE'));

/** The variables of the service. */
const SETTINGS = [
  ...Object.keys(settings.shape),
  ...EARLIER_NAMES,
  ...SECRETS.map((name) => `${name}_FILE`),
  ...OPEN_TELEMETRY,
];
/** The variables of other images. */
const OTHER_IMAGES: Record<string, string[]> = {
  postgres: ['POSTGRES_DB', 'POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_PASSWORD_FILE'],
  grafana: ['GF_SECURITY_ADMIN_PASSWORD', 'HTTP_PROXY', 'http_proxy'],
  balancer: ['HTTP_PROXY', 'http_proxy'],
};

/** The variables of an earlier `.env` that name files of this machine. */
const EARLIER_HOST_FILES = new Set(['ADMIN_API_KEY_FILE', 'COUNTER_STORE_FILE']);

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
      const known = OTHER_IMAGES[name] ?? SETTINGS;
      expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toStrictEqual([]);
    }
  });
});

describe('docker-compose.yml', () => {
  it('passes settings on by all names, except those that docs/deploying.md lists as ignored', () => {
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
    const all = [...new Set([...Object.keys(settings.shape), ...EARLIER_NAMES, ...OPEN_TELEMETRY])];
    expect([...passed, ...ignored, ...OTHER_SERVICES].toSorted()).toEqual(all.toSorted());
  });

  it('lets no proxy of the Docker client come between its services', () => {
    const { services } = parse(read('docker-compose.yml'), { merge: true }) as ComposeFile;
    for (const name of ['balancer', 'grafana']) {
      expect(services[name]?.environment).toMatchObject({ HTTP_PROXY: '', http_proxy: '' });
    }
  });

  it('uses no variable of .env that .env.example does not explain, except those of earlier names', () => {
    const taken = FILES.flatMap((file) => namesIn(read(file), /\$\{(\w+)/g)).filter(
      (name) => !EARLIER_HOST_FILES.has(name),
    );
    const explained = namesIn(read('.env.example'), /^(?:# )?(\w+)=/gm);
    expect(taken.filter((name) => !explained.includes(name))).toStrictEqual([]);
  });

  it('passes on what .env sets, and leaves the defaults of the rest to the service', async () => {
    const always = { APP_ENV: 'production', TRUST_PROXY: '1' };
    const address = (password: string) => `postgres://animal_store:${password}@postgres:5432/animal_store`;
    const readApi = async (variables = {}) =>
      (await readComposeFile('docker-compose.yml', variables)).services['api'];
    expect(await readApi()).toMatchObject({ stop_grace_period: '15s' });
    expect((await readApi())?.environment).toEqual({ ...always, DATABASE_URL: address('animal_store') });

    const set = { APP_ENV: 'staging', BAN_DURATIONS: '', OTEL_TRACES_SAMPLER_ARG: '0.01' };
    const others = { POSTGRES_PASSWORD: 'secret', STOP_GRACE_PERIOD: '65s' };
    expect(await readApi({ ...set, ...others })).toMatchObject({ stop_grace_period: '65s' });
    const environment = { ...always, DATABASE_URL: address('secret'), ...set };
    expect((await readApi({ ...set, ...others }))?.environment).toEqual(environment);
  });
});

describe('docker-compose.secrets.yml', () => {
  it.each([
    ['migrate', 'ADMIN_API_KEY_FILE', 'admin-api-key', 'ADMIN_API_KEY_HOST_FILE'],
    ['migrate', 'ADMIN_API_KEY_FILE', 'admin-api-key', 'ADMIN_API_KEY_FILE'],
    ['api', 'COUNTER_STORE_URL_FILE', 'counter-store-url', 'COUNTER_STORE_URL_HOST_FILE'],
    ['api', 'COUNTER_STORE_URL_FILE', 'counter-store-url', 'COUNTER_STORE_FILE'],
  ])(
    'has %s read %s from the secret %s if .env has %s, and otherwise changes nothing',
    async (name, variable, secret, hostFile) => {
      const set = await readComposeFile('docker-compose.secrets.yml', { [hostFile]: './secrets/file' });
      expect(set.secrets).toMatchObject({ [secret]: { file: './secrets/file' } });
      expect(set.services[name]).toMatchObject({
        environment: { [variable]: `/run/secrets/${secret}` },
        secrets: ['database-url', secret],
      });
      const bare = await readComposeFile('docker-compose.secrets.yml');
      expect(bare.secrets).toMatchObject({ [secret]: { file: '/dev/null' } });
      expect(bare.services[name]?.environment).toMatchObject({ [variable]: '' });
    },
  );
});

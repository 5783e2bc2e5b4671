import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { settings } from '../src/environment.js';
import { SECRETS } from '../src/secret-files.js';
import { type ComposeFile, readComposeFile } from './image/support/compose-file.js';

const ROOT = path.join(__dirname, '..');
const FILES = ['docker-compose.yml', 'docker-compose.secrets.yml'];

/** The schema of the Compose specification, as the linter `dclint` brings it. */
function readSchema(): object {
  const folder = path.dirname(createRequire(__filename).resolve('dclint/package.json'));
  const text = readFileSync(path.join(folder, 'schemas', 'compose.schema.json'), 'utf8');
  // It names its dialect, which is Ajv's own, by an address that Ajv does not know.
  const { $schema: _, ...schema } = JSON.parse(text);
  return schema;
}

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);

/** What the service can be told, and what PostgreSQL's image can. */
const SETTINGS = [...Object.keys(settings.shape), ...SECRETS.map((name) => `${name}_FILE`)];
const POSTGRES_SETTINGS = ['POSTGRES_DB', 'POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_PASSWORD_FILE'];

/** Settings that Compose decides, that have no meaning in a container or to one service, and OpenTelemetry's finer ones. */
const NOT_OF_THE_SERVICE = [
  'NODE_ENV',
  'HOST',
  'PORT',
  'DIRECT_DATABASE_URL',
  'DATA_DIR',
  'ADMIN_API_KEY',
  'SEED_FILE',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_SDK_DISABLED',
];

describe.each(FILES)('%s', (file) => {
  it('is a Compose file by the schema of its specification', () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const validate = ajv.compile(readSchema());
    const isValid = validate(parse(read(file), { merge: true }));
    expect({ isValid, errors: validate.errors }).toEqual({ isValid: true, errors: null });
  });

  it('names no environment variable that is not a setting', () => {
    const { services } = parse(read(file), { merge: true }) as ComposeFile;
    for (const [name, { environment = {} }] of Object.entries(services)) {
      const known = name === 'postgres' ? POSTGRES_SETTINGS : SETTINGS;
      expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
    }
  });
});

describe('docker-compose.yml', () => {
  it('passes every setting of the service on from .env', () => {
    const { services } = parse(read('docker-compose.yml'), { merge: true }) as ComposeFile;
    const passed = Object.keys(services['api']?.environment ?? {});
    expect(Object.keys(settings.shape).filter((name) => !passed.includes(name))).toEqual(NOT_OF_THE_SERVICE);
  });

  it('takes nothing from .env that .env.example does not explain', () => {
    const taken = namesIn(read('docker-compose.yml'), /\$\{(\w+)/g);
    const explained = namesIn(read('.env.example'), /^(?:# )?(\w+)=/gm);
    expect(taken.filter((name) => !explained.includes(name))).toEqual([]);
  });

  it('tells the service what .env says, and leaves to it what .env does not', async () => {
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
    });
    expect(set.services['api']?.environment).toEqual({
      APP_ENV: 'staging',
      DATABASE_URL: 'postgres://animal_store:secret@postgres:5432/animal_store',
      TRUST_PROXY: '1',
      BAN_DURATIONS: '',
      LOG_LEVEL: 'warn',
    });
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readTree } from '../../dev/release/record.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const FILES = ['README.md', 'CONTRIBUTING.md', ...filesBelow('docs'), ...filesBelow('deploy')];

/** What `dev/names.js` prints, as far as documents name it. */
interface PublicNames {
  settings: { forms: object };
  commands: Record<string, { forms: object }>;
  metrics: Record<string, { type: string; labels: string[] }>;
  errorCodes: object;
  columns: object;
}

/** Names of others, by whose they are. A name of this service that stands here is not checked. */
const OTHERS = {
  libraries: ['(OTEL|NODE|UV)_\\w+', 'node_modules', 'parentbased_\\w+', '(trace|span)_id'],
  proxies: [
    'HTTPS?_PROXY',
    'NO_PROXY',
    'auto_https',
    'limit_req',
    'trusted_proxies',
    'X-Forwarded-For',
    'Strict-\\S+',
  ],
  postgresql: [
    '(archive|idle|max|pg|recovery|restore|statement|synchronous|wal)_\\w+',
    'default_pool_size|ignore_startup_parameters|pool_mode',
    'failed_count|last_value|search_path|ON_ERROR_STOP|TG_OP',
  ],
  prisma: ['finished_at', 'migration_name', 'rolled_back_at'],
  generators: ['LONG_OR_DOUBLE'],
  compose: ['stop_grace_period'],
  examples: [
    'ADMIN_URL',
    'ANIMAL_STORE_KEY',
    'RESTORED_URL',
    'WEBHOOK_SECRET',
    'pets_(title|id_seq)',
    'what_it_does',
  ],
  code: ['RESPONSE_HOOKS', 'LEVEL_FALLS_AFTER_MS', 'rate_limit_counters_pkey'],
  values: [
    'rate_limit_status',
    'unread_bytes',
    'key_revocation',
    'no_response',
    'rate_limit_wait',
    'unexpected_response',
  ],
};
const isOfOthers = new RegExp(`^(${Object.values(OTHERS).flat().join('|')})$`);

const tree = readTree();
const names = tree.names as unknown as PublicNames;

const known = new Set([
  ...Object.keys(names.settings.forms),
  ...Object.keys(names.errorCodes),
  ...Object.keys(names.columns).flatMap((column) => column.split('.')),
  ...Object.entries(names.metrics).flatMap(([name, { type, labels }]) => [
    name,
    ...(type === 'histogram' ? ['bucket', 'sum', 'count'].map((suffix) => `${name}_${suffix}`) : []),
    ...labels,
  ]),
  // Fields, headers, and values such as those of warnings.
  ...(JSON.stringify(tree.documents).match(/[\w-]+/g) ?? []),
]);

function filesBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name));
}

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const codeOf = (text: string) => text.match(/```[^]*?```|`[^`\n]+`/g) ?? [];

/** Returns the unknown ones among the names of this form. */
function unknownNames(text: string, form: RegExp): string[] {
  return (text.match(form) ?? []).filter((name) => !known.has(name) && !isOfOthers.test(name));
}

/** Returns the options that a command does not have. */
function unknownOptions(line: string): string[] {
  const [, words = ''] = /(?:animal-store|admin\.js|admin --) ((?:[a-z-]+ ?)+)/.exec(line) ?? [];
  const parts = words.trim().split(' ');
  const command = parts
    .map((_word, index) => ['animal-store', ...parts.slice(0, index + 1)].join(' '))
    .findLast((each) => each in names.commands);
  if (command === undefined) {
    return [];
  }
  const options = line.slice(line.indexOf(words)).match(/ --[a-z][a-z-]*/g) ?? [];
  return options
    .map((option) => option.trim())
    .filter((option) => !(option in names.commands[command]!.forms))
    .map((option) => `${command} ${option}`);
}

describe.each(FILES)('%s', (file) => {
  const text = read(file);

  it('names only settings, metrics, labels, error codes, fields, columns and headers that exist', () => {
    const unknown = [
      ...unknownNames(text, /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g),
      ...unknownNames(text, /\banimal_store_[a-z_]+[a-z]\b/g),
      ...codeOf(text).flatMap((code) => [
        ...unknownNames(code, /(?<![\w./-])(?!animal_store)[a-z]+(?:_[a-z]+)+(?![\w.(/-])/g),
        ...unknownNames(code, /\b[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)+\b(?!-)/g),
      ]),
    ];
    expect(unknown).toStrictEqual([]);
  });

  it('gives commands only options that they have', () => {
    expect(text.split(/\n|&&|`/).flatMap(unknownOptions)).toStrictEqual([]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { lastRelease, readTree, type Version } from '../../dev/release/record.js';

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

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

// Reading the tree takes seconds, so the tests of all documents, and of the changelog, are in this file.
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

const CHANGELOG = read('CHANGELOG.md');
const [, unreleased = ''] = CHANGELOG.split(/^## .*\n/m);

/** Returns what users see of a version, by what it is a part of: an operation, a schema, or nothing. */
function shownNames({ documents, names: named }: Version): [part: string, name: string][] {
  const { settings, metrics, errorCodes } = named as Json;
  return [
    ...(Object.values(documents) as Json[]).flatMap(({ paths, components }) => [
      ...Object.entries<Json>(paths).flatMap(([route, operations]) =>
        Object.entries<Json>(operations).flatMap(([method, { parameters = [] }]) => [
          ['', `${method.toUpperCase()} ${route}`],
          ...parameters.map(({ name }: Json) => [`${method.toUpperCase()} ${route}`, name]),
        ]),
      ),
      ...Object.entries<Json>(components.schemas).flatMap(([schema, { properties = {} }]) =>
        Object.keys(properties).map((field) => [schema, field]),
      ),
    ]),
    ...[settings.forms, metrics, errorCodes].flatMap(Object.keys).map((name) => ['', name]),
  ] as [string, string][];
}

/** Returns the rows of the table of built-in plans, with their limits. */
const planRows = ({ documents }: Version): string[] =>
  (documents['openapi.json'] as Json).info.description.match(/^\| [a-z].*/gim);
const denialsUntilBan = ({ documents }: Version): number =>
  (documents['openapi.json'] as Json).components.schemas.RateLimitStatus.examples[0].denialsUntilBan;

describe('the section [Unreleased] of CHANGELOG.md', () => {
  const release = lastRelease();

  it('has what to do before an upgrade first, if there is anything', () => {
    const headings: string[] = unreleased.match(/^### .*/gm) ?? [];
    expect(headings.indexOf('### Before you upgrade')).toBeLessThan(1);
  });

  it('names every operation, field, parameter, setting, metric and error code that is new', () => {
    const released = shownNames(release);
    const releasedNames = new Set(released.map((each) => each.join(' ')));
    // What a new operation or schema has comes with it.
    const parts = new Set(released.flat());
    const added = shownNames(tree).filter(
      ([part, name]) => !releasedNames.has(`${part} ${name}`) && (part === '' || parts.has(part)),
    );
    const missing = added.filter(([, name]) => !unreleased.includes(name.replace(/^[A-Z]+ /, '')));
    expect(missing.map(([part, name]) => `${part} ${name}: add a line that names it`)).toStrictEqual([]);
  });

  it('names every built-in plan that is new or has other limits', () => {
    const released = planRows(release);
    const changed = planRows(tree).filter((row) => !released.includes(row));
    const plans = changed.map((row) => row.split(' ')[1]?.toLowerCase());
    const missing = plans.filter((name) => !unreleased.includes(`plan \`${name}\``));
    expect(missing.map((name) => `plan \`${name}\`: add a line that names it`)).toStrictEqual([]);
  });

  it('says when a ban starts if that changed', () => {
    const isMissing = denialsUntilBan(tree) !== denialsUntilBan(release) && !/ban starts/.test(unreleased);
    expect(isMissing ? ['add a line that says when "a ban starts"'] : []).toStrictEqual([]);
  });
});

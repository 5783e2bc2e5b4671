import { readdirSync } from 'node:fs';

const above = [['cli'], ['start'], ['observability'], ['keys'], ['webhooks'], ['audit', 'usage']];
const below = [
  ['idempotency'],
  ['openapi'],
  ['deprecation', 'auth'],
  ['http'],
  ['database'],
  ['schemas'],
  ['process'],
];
/** The resources of the store, such as `pets`: every folder that has no other place. */
const resources = readdirSync('src', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .filter((name) => name !== 'rate-limit' && ![...above, ...below].flat().includes(name));
/** Each folder may import those of the floors below it: none above, and none beside it. */
const floors = [...above, resources, ['rate-limit'], ...below];

/** Returns the rules by which each folder in `parent` imports only those below it. */
function wallsOf(parent, storeys) {
  return storeys.flatMap((floor, index) => {
    const higher = storeys.slice(0, index).flat();
    return floor.map((folder) => ({
      name: `${folder}-imports-what-is-below-it`,
      severity: 'error',
      from: { path: `^${parent}/${folder}(/|$)` },
      to: {
        path: `^${parent}/(${[...higher, ...floor.filter((other) => other !== folder)].join('|')})(/|$)`,
      },
    }));
  });
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphan',
      severity: 'error',
      from: {
        orphan: true,
        // A page loads its scripts by their addresses.
        pathNot: ['\\.d\\.m?ts$', '^test/.*\\.[cm]js$', '^src/openapi/pages/'],
      },
      to: {},
    },
    {
      name: 'only-the-start-builds-the-application',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/(main|app|app\\.module|cli/services)\\.ts$' },
      to: { path: '^src/(main|app|app\\.module)\\.ts$' },
    },
    ...wallsOf('src', floors),
    // The module of `http` is above its rooms.
    ...wallsOf('src/http', [['http\\.module\\.ts'], ['connections'], ['responses'], ['routes'], ['rules']]),
    {
      name: 'only-observability-imports-traces',
      comment: 'Modules publish diagnostics, which traces read.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/observability/' },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    {
      name: 'no-folder-cycle',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/' },
      to: { path: '^src/', circular: true },
    },
    {
      name: 'rules-are-pure',
      comment: 'What decides needs neither a framework nor a database.',
      severity: 'error',
      from: {
        path:
          '^src/.*/rules/|^src/keys/key\\.view\\.ts$|' +
          '^src/process/settings/(duration|redis-address|secret-files|renamed-settings)\\.ts$|' +
          '^src/process/(settings/(env-file|text-file)|clock|time-units)\\.ts$',
      },
      to: {
        path: '^src/database/|node_modules/(@nestjs|@prisma|fastify|ioredis|pg|prom-client)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'the-verifier-shares-no-code',
      comment: 'It would share mistakes too.',
      severity: 'error',
      from: { path: '^chaos/(verify\\.ts|verifier/)' },
      to: { pathNot: '^chaos/(verify\\.ts|verifier/)', dependencyTypesNot: ['core'] },
    },
    {
      name: 'source-does-not-import-tests',
      severity: 'error',
      from: { path: '^src', pathNot: '\\.spec\\.ts$' },
      to: { path: '^test|\\.spec\\.ts$' },
    },
    {
      name: 'no-undeclared-package',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'service-needs-no-development-package',
      severity: 'error',
      // An image has a DATABASE_URL, and never forks the host of the embedded one. Production logs JSON.
      from: {
        path: '^src',
        pathNot: [
          '\\.spec\\.ts$',
          '^src/(database/migrations/embedded/host|observability/terminal-lines)\\.ts$',
        ],
      },
      to: { dependencyTypes: ['npm-dev'], path: 'node_modules', pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules'] },
    exclude: { path: '^(src/database/generated|test/openapi/generators|chaos/peers/servers)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'types', 'default'],
      extensions: ['.ts', '.mts', '.js', '.mjs', '.json'],
    },
  },
};

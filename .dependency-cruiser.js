import { readdirSync } from 'node:fs';

/**
 * The modules in the order of a request: each may import those after it, but none before or beside it. A leaf imports nothing of the
 * project. No two folders import each other.
 */
const beyond = ['health', 'account', 'admin', 'seed', 'cli'];
const beside = ['usage', 'webhooks', 'observability', 'tracing', 'logging', 'console', 'embedded-postgres'];
const below = ['http', 'server', 'openapi', 'schemas', 'errors', 'settings', 'metrics'];
/** The resources of the store, such as `pets`: every folder that has no other place. */
const resources = readdirSync('src', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .filter(
    (name) =>
      ![
        'auth',
        'rate-limit',
        'deprecation',
        'idempotency',
        'database',
        ...beyond,
        ...beside,
        ...below,
      ].includes(name),
  );
const path = [['auth', 'rate-limit'], ['deprecation'], resources, ['idempotency'], ['database']];
const modules = path.flat();

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphan',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['\\.d\\.m?ts$', '^test/support/.*\\.mjs$', '^src/cli/probe\\.ts$'],
      },
      to: {},
    },
    {
      name: 'only-the-start-builds-the-application',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/(main|app|app\\.module|cli/(documents|services))\\.ts$' },
      to: { path: '^src/(main|app|app\\.module)\\.ts$' },
    },
    ...path.flatMap((step, index) =>
      step.map((module) => {
        const before = path.slice(0, index).flat();
        const siblings = step.filter((other) => other !== module);
        return {
          name: `${module}-imports-what-comes-after-it`,
          severity: 'error',
          from: { path: `^src/${module}/` },
          to: {
            path: `^src/(${[...before, ...siblings, ...beyond].join('|')})/`,
            pathNot: '\\.decorator\\.ts$',
          },
        };
      }),
    ),
    {
      name: 'usage-is-beside-the-path',
      comment: 'It records what the request itself carries, and no module of the request path imports it.',
      severity: 'error',
      from: { path: '^src/usage/' },
      to: { path: `^src/(${[...modules.filter((module) => module !== 'database'), ...beyond].join('|')})/` },
    },
    {
      name: 'the-path-does-not-import-usage',
      severity: 'error',
      from: { path: `^src/(${[...modules, 'health', 'openapi', 'seed'].join('|')})/` },
      to: { path: '^src/usage/' },
    },
    {
      name: 'webhooks-are-beside-the-path',
      comment:
        'They read counters and what routes declare. Administration queues events; no request path does.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(webhooks|admin|cli|app\\.module)' },
      to: { path: '^src/webhooks/' },
    },
    {
      name: 'only-the-application-imports-observability',
      comment:
        'Providers add their metrics to the registry that they get, and publish diagnostics, which traces read.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(observability/|tracing/|(main|app(\\.module)?)\\.ts)' },
      to: { path: '^src/(observability|tracing)/|node_modules/@opentelemetry/' },
    },
    {
      name: 'metrics-import-nothing',
      severity: 'error',
      from: { path: '^src/metrics/' },
      to: { path: '^src/', pathNot: '^src/metrics/' },
    },
    {
      name: 'administration-is-beside-the-path',
      comment:
        'Of the request path it imports how keys are made, whose windows are counted, and what routes declare.',
      severity: 'error',
      from: { path: '^src/admin/' },
      to: {
        path: '^src/(auth|rate-limit|deprecation|idempotency|pets|orders|account|health|seed|cli)/',
        pathNot:
          '\\.decorator\\.ts$|^src/auth/rules/api-key\\.ts$|^src/deprecation/deprecated-operations\\.ts$|^src/rate-limit/(stores/fallback-counter-store|rules/(bucket-key|plan-name)|rate-limit\\.module|rate-limit-status\\.schema)\\.ts$',
      },
    },
    {
      name: 'account-is-beside-the-path',
      comment:
        'It imports what plans are called, which operations are deprecated, and how administration rotates a key.',
      severity: 'error',
      from: { path: '^src/account/' },
      to: {
        path: '^src/(auth|rate-limit|deprecation|idempotency|pets|orders|health|admin|seed|cli)/',
        pathNot:
          '\\.decorator\\.ts$|^src/rate-limit/rules/plan-name\\.ts$|^src/deprecation/deprecated-operations\\.ts$|^src/admin/(admin-services\\.module|keys/key\\.(service|schemas|view))\\.ts$',
      },
    },
    {
      name: 'no-folder-cycle',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/' },
      to: { path: '^src/', circular: true },
    },
    {
      name: 'errors-import-nothing',
      severity: 'error',
      from: { path: '^src/errors/' },
      to: { path: '^src/', pathNot: '^src/errors/' },
    },
    {
      name: 'the-server-imports-errors-and-settings',
      severity: 'error',
      from: { path: '^src/server/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(server|errors|settings|metrics)/' },
    },
    {
      name: 'rules-are-pure',
      comment: 'What decides needs neither a framework nor a database.',
      severity: 'error',
      from: {
        path: '^src/.*/rules/|^src/admin/keys/key\\.view\\.ts$|^src/settings/(duration|redis-address|secret-files|env-file|text-file|clock)\\.ts$',
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
      from: { path: '^prove/(verify\\.ts|verifier/)' },
      to: { pathNot: '^prove/(verify\\.ts|verifier/)', dependencyTypesNot: ['core'] },
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
        pathNot: ['\\.spec\\.ts$', '^src/(embedded-postgres/host|logging/terminal-lines)\\.ts$'],
      },
      to: { dependencyTypes: ['npm-dev'], path: 'node_modules', pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules'] },
    exclude: { path: '^(src/database/generated|test/generators)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'types', 'default'],
      extensions: ['.ts', '.mts', '.js', '.mjs', '.json'],
    },
  },
};

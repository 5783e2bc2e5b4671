/**
 * A request goes one way: main → app → auth → rate-limit → deprecation → pets or orders → (idempotency) → database. Nobody
 * imports what stands before it or beside it; `errors`, `http`, decorators and the files at the top of `src` that hold
 * types are leaves.
 */
const way = [['auth'], ['rate-limit'], ['deprecation'], ['pets', 'orders'], ['idempotency'], ['database']];
const rooms = way.flat();

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphan',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['\\.d\\.m?ts$', '^test/support/.*\\.mjs$', '^src/cli/probe\\.ts$', '^src/openapi/browser/'],
      },
      to: {},
    },
    {
      name: 'only-the-start-builds-the-application',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/(main|application|app\\.(hooks|module)|cli/documents)\\.ts$' },
      to: { path: '^src/(main|application|app\\.(hooks|module|filter))\\.ts$' },
    },
    ...way.flatMap((step, index) =>
      step.map((room) => {
        const before = way.slice(0, index).flat();
        const beside = step.filter((other) => other !== room);
        return {
          name: `${room}-looks-ahead-only`,
          severity: 'error',
          from: { path: `^src/${room}/` },
          to: {
            path: `^src/(${[...before, ...beside].map((other) => `${other}|`).join('')}operations|openapi|admin|seed|cli)/`,
            pathNot: '\\.decorator\\.ts$',
          },
        };
      }),
    ),
    {
      name: 'usage-is-beside-the-way',
      comment:
        'It learns of a request what the request itself carries; who serves requests knows nothing of it.',
      severity: 'error',
      from: { path: '^src/usage/' },
      to: {
        path: `^src/(${rooms.filter((room) => room !== 'database').join('|')}|operations|openapi|admin|seed|cli)/`,
      },
    },
    {
      name: 'the-way-knows-nothing-of-usage',
      severity: 'error',
      from: { path: `^src/(${rooms.join('|')}|operations|openapi|seed)/` },
      to: { path: '^src/usage/' },
    },
    {
      name: 'nobody-knows-of-metrics-and-traces',
      comment: 'Rooms keep numbers and tell of what they ask; what is made of it is not their concern.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(metrics/|tracing/|app\\.(hooks|module)\\.ts)' },
      to: { path: '^src/(metrics|tracing)/|node_modules/(@opentelemetry|prom-client)/' },
    },
    {
      name: 'administration-is-beside-the-way',
      comment:
        'Of the way it knows how keys are made, whose windows are counted, and what its routes declare.',
      severity: 'error',
      from: { path: '^src/admin/' },
      to: {
        path: '^src/(auth|rate-limit|deprecation|idempotency|pets|orders|operations|seed|cli)/',
        pathNot:
          '\\.decorator\\.ts$|^src/auth/api-key\\.ts$|^src/rate-limit/(stores/counter-store|rules/(bucket-key|plan-name)|rate-limit\\.module)\\.ts$',
      },
    },
    {
      name: 'leaves-import-leaves',
      severity: 'error',
      from: {
        path: '^src/(errors|http)/|^src/(batcher|principal|clock|histogram|duration|environment|periodic-task|redis-address|secret-files)\\.ts$',
      },
      to: {
        path: '^src/',
        pathNot:
          '^src/(errors|http)/|^src/(batcher|principal|clock|histogram|duration|environment|periodic-task|redis-address|secret-files)\\.ts$',
      },
    },
    {
      name: 'rules-are-pure',
      comment: 'What decides needs neither framework nor database.',
      severity: 'error',
      from: {
        path: '^src/(auth/api-key|rate-limit/(rules/[^/]+|stores/(local-counter-store|unreported-usage-log|redis-failure))|deprecation/lifecycle|http/(pagination|trace-parent)|usage/(periods|usage-counts)|admin/key\\.view|clock|histogram|duration|redis-address|secret-files)\\.ts$',
      },
      to: { path: 'node_modules/(@nestjs|@prisma|fastify|ioredis|pg)/', dependencyTypesNot: ['type-only'] },
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
      from: { path: '^src', pathNot: '\\.spec\\.ts$' },
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

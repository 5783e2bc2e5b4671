import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Collector, startCollector } from '../support/programs/collector.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { ServiceProcess } from '../support/service/service-process.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const headers = { traceparent: `00-${TRACE}-${SPAN}-01` };

let database: TestDatabase;
let collector: Collector;
let folder: string;
let key: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'animal-store-observing-'));
  database = await createDatabase();
  collector = await startCollector();
  ({ key } = await issueKey(database));
});
afterAll(async () => {
  await collector.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Serves some requests, ends gracefully, and returns the log lines and the packages that were loaded. */
async function serve(settings: Record<string, string>) {
  const NODE_V8_COVERAGE = await mkdtemp(path.join(folder, 'coverage-'));
  const service = new ServiceProcess('main.js', {
    DATABASE_URL: database.url,
    APP_ENV: 'staging',
    NODE_ENV: 'production',
    SHUTDOWN_DELAY: '0s',
    NODE_V8_COVERAGE,
    ...settings,
  });
  const url = await service.listening();
  await send(`${url}/v1/pets`, { key, headers });
  await send(`${url}/v1/pets/1`, { key });
  await send(`${url}/livez`, { headers });
  await send(`${url}/v1/%zz`, { key, headers });
  const { code, stdout } = await service.kill('SIGTERM');
  const lines = Array.from(
    stdout.matchAll(/^{.*/gm),
    ([json]) => JSON.parse(json) as Record<string, unknown>,
  );
  const [file = ''] = await readdir(NODE_V8_COVERAGE);
  const coverage = await readFile(path.join(NODE_V8_COVERAGE, file), 'utf8');
  const loaded = Array.from(coverage.matchAll(/\/dist\/packages\/([^/]+)\.js"/g), ([, name]) => name ?? '');
  const line = (target: string) => lines.find(({ path: its, msg }) => its === target && msg === 'request');
  return { code, loaded, line };
}

/** What prom-client has for exemplars. */
const OF_PROM_CLIENT = ['opentelemetry-api'];
const ofOpenTelemetry = (packages: string[]) => packages.filter((name) => name.startsWith('opentelemetry-'));

describe('a service without a collector or a port for metrics', () => {
  it('does not load the SDK of OpenTelemetry, and logs the trace id of the sender', async () => {
    const { code, loaded, line } = await serve({});
    expect([code, ofOpenTelemetry(loaded)]).toEqual([0, OF_PROM_CLIENT]);
    for (const target of ['/v1/pets', '/livez', '/v1/%zz']) {
      expect(line(target)).toMatchObject({ trace_id: TRACE, span_id: SPAN });
    }
    expect(line('/v1/pets/1')).not.toHaveProperty('trace_id');
  });

  it.each([
    ['OTEL_SDK_DISABLED', 'True'],
    ['OTEL_TRACES_EXPORTER', 'none'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
  ])('does not load it with %s=%s either', async (name, value) => {
    const { loaded } = await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, [name]: value });
    expect(ofOpenTelemetry(loaded)).toEqual(OF_PROM_CLIENT);
    expect(collector.postings).toStrictEqual([]);
  });
});

describe('a service with a collector', () => {
  it('logs the trace and span of each request, and sends all spans before it ends', async () => {
    const { code, loaded, line } = await serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    expect(code).toBe(0);
    expect(loaded).toContain('opentelemetry-sdk-trace');
    for (const [name, target] of Object.entries({ listPets: '/v1/pets', getPet: '/v1/pets/1' })) {
      const span = collector.spans().find((each) => each.name === name);
      expect(span).toBeDefined();
      expect(line(target)).toMatchObject({ trace_id: span?.traceId, span_id: span?.spanId });
    }
    expect(line('/v1/pets')).toMatchObject({ trace_id: TRACE });
    expect(line('/v1/pets')?.['span_id']).not.toBe(SPAN);
  });
});

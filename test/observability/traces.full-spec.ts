import dns from 'node:dns/promises';
import { rm } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createCertificate } from '../support/programs/certificate.js';
import { type Collector, type ReceivedSpan, startCollector } from '../support/programs/collector.js';
import { readEnvironment } from '../../src/process/settings/environment.js';
import { createDatabase } from '../support/database/database.js';
import { hold } from '../support/database/holding.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { ServiceProcesses } from '../support/service/service-processes.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually } from '../support/eventually.js';
import { head, sendRaw } from '../support/http/raw-http.js';
import { whileBroken } from '../support/database/broken-table.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

let collector: Collector;
let store: TestApplication;
let key: string;
let isRunning = false;

/** Starts the service with these variables, some of which only the SDK reads. */
async function start(variables: Record<string, string> = {}): Promise<void> {
  const given = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...variables,
  };
  Object.assign(process.env, { OTEL_BSP_SCHEDULE_DELAY: '50', ...given });
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL } = readEnvironment(given);
  store = await startApplication({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL },
  });
  isRunning = true;
  ({ key } = await store.issue());
}

async function stop(): Promise<void> {
  if (isRunning) {
    isRunning = false;
    await store.close();
  }
}

beforeEach(async () => {
  collector = await startCollector();
});
afterEach(async () => {
  await stop();
  await collector.close();
  for (const name of Object.keys(process.env).filter((each) => each.startsWith('OTEL_'))) {
    delete process.env[name];
  }
});

const server = (name: string) => collector.span((span) => span.kind === SERVER && span.name === name);
const findChildren = ({ spanId }: ReceivedSpan) =>
  collector.spans().filter(({ parentSpanId }) => parentSpanId === spanId);
const names = (spans: ReceivedSpan[]) => spans.map(({ name }) => name).toSorted();

describe('the trace of a request', () => {
  beforeEach(() => start());

  it('has a span named by its operation, with conventional attributes, and one for each query', async () => {
    const { headers } = await send(`${store.url}/v1/pets?limit=1`, { key });
    const span = await server('listPets');
    expect(span.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v1/pets',
      'http.response.status_code': 200,
      'http.response.header.x-request-id': [headers.get('x-request-id')],
      'url.path': '/v1/pets',
      'url.scheme': 'http',
      'client.address': '127.0.0.1',
    });
    expect(span.parentSpanId).toBeUndefined();
    expect(span.status.code).toBe(0);
    const attributes = { 'db.system.name': 'postgresql', 'animal_store.batch.size': 1 };
    const child = { traceId: span.traceId, kind: CLIENT, attributes };
    await eventually(async () =>
      expect(names(findChildren(span))).toEqual(['count-requests', 'find-keys', 'page-of-pets']),
    );
    expect(findChildren(span)).toMatchObject([child, child, child]);
  });

  it('continues the trace of its sender, and keeps its state', async () => {
    const traceparent = `00-${TRACE}-${SPAN}-01`;
    await send(`${store.url}/v1/pets`, { key, headers: { traceparent, tracestate: 'vendor=1' } });
    const continued = { traceId: TRACE, parentSpanId: SPAN, traceState: 'vendor=1' };
    expect(await server('listPets')).toMatchObject(continued);
  });

  it('has a span for each query, even when one query serves many requests', async () => {
    await send(`${store.url}/v1/pets`, { key });
    // The others queue behind the first query, if not with it.
    const holder = await hold(store.database.url, 'LOCK TABLE rate_limit_counters');
    const responses = Array.from({ length: 20 }, () => send(`${store.url}/v1/pets`, { key }));
    await eventually(() => expectLocksWaitedFor(store.database, 1));
    await holder.letGo();
    await Promise.all(responses);
    await eventually(async () => {
      const spans = collector.spans();
      const servers = spans.filter(({ kind }) => kind === SERVER);
      expect(servers).toHaveLength(21);
      for (const one of servers) {
        expect(names(findChildren(one))).toEqual(expect.arrayContaining(['count-requests', 'page-of-pets']));
      }
      const sizes = spans.map(({ attributes }) => Number(attributes['animal_store.batch.size'] ?? 0));
      expect(Math.max(...sizes)).toBeGreaterThan(1);
    });
  });

  it('has the queries of a request with a body and the statements of a transaction, no values', async () => {
    const { key: admin } = await store.issue({ plan: 'business', role: 'admin' });
    const named = { method: 'POST', body: { name: 'Rumpelstiltskin', categoryId: 7, plan: 'free' } };
    await send(`${store.url}/v1/pets`, { ...named, key, headers: { 'Idempotency-Key': 'once' } });
    const creation = await server('createPet');
    await eventually(async () => expect(names(findChildren(creation))).toContain('add-pets'));
    await send(`${store.url}/admin/keys`, { ...named, key: admin });
    await server('issueKey');
    expect(collector.postings.map(({ body }) => body.toString()).join()).not.toContain('Rumpelstiltskin');
  });

  it('has no error for a client error, but for a failed request and for the query that failed', async () => {
    expect((await send(`${store.url}/v1/pets/404`, { key })).status).toBe(404);
    const clientError = await server('getPet');
    expect(clientError).toMatchObject({
      status: { code: 0 },
      attributes: { 'http.route': '/v1/pets/{petId}' },
    });
    expect(clientError.attributes['error.type']).toBeUndefined();
    const failed = await whileBroken(store.database, 'pets', () => send(`${store.url}/v1/pets`, { key }));
    expect(failed.status).toBe(500);
    expect(await server('listPets')).toMatchObject({
      status: { code: ERROR },
      attributes: { 'error.type': '500', 'http.response.status_code': 500 },
    });
    expect(await collector.span(({ name }) => name === 'page-of-pets')).toMatchObject({
      status: { code: ERROR },
      attributes: { 'error.type': '22012' },
    });
  });

  it('is named by the method for an unknown path, and has no key from the path', async () => {
    await send(`${store.url}/v1/${key}?secret=${key}`, { key });
    const span = await server('GET');
    expect(span.attributes['http.route']).toBeUndefined();
    expect(collector.postings.map(({ body }) => body.toString()).join()).not.toContain(key.slice(9));
  });

  it('has no key from an encoded path, or from headers of its sender', async () => {
    const hidden = key.replace('s', '%73');
    const traceparent = `00-${TRACE}-${SPAN}-01`;
    for (const tracestate of [`a=${key}`, `vendor=1,b=${hidden}`]) {
      await send(`${store.url}/v1/${hidden}`, {
        key,
        headers: { traceparent, tracestate, baggage: `key=${key}`, 'X-Forwarded-For': key },
      });
    }
    await eventually(async () =>
      expect(collector.spans().filter(({ kind }) => kind === SERVER)).toHaveLength(2),
    );
    expect(collector.postings.map(({ body }) => body.toString()).join()).not.toContain(key.slice(9));
    expect(await server('GET')).toMatchObject({ traceId: TRACE, parentSpanId: SPAN });
  });

  it('has no span when its sender does not sample it', async () => {
    await send(`${store.url}/v1/pets`, { key, headers: { traceparent: `00-${TRACE}-${SPAN}-00` } });
    await send(`${store.url}/v1/pets/1`, { key });
    await server('getPet');
    expect(collector.spans().filter(({ traceId }) => traceId === TRACE)).toStrictEqual([]);
  });

  it('has no queries of requests that were pipelined behind it', async () => {
    const get = (path: string, ...headers: string[]) =>
      head(`GET ${path}`, `Authorization: Bearer ${key}`, ...headers);
    const untraced = get('/v1/pets/1', `traceparent: 00-${TRACE}-${SPAN}-00`, 'Connection: close');
    await sendRaw(store.url, get('/v1/pets') + untraced);
    const span = await server('listPets');
    await stop();
    expect(names(findChildren(span))).toEqual(['count-requests', 'find-keys', 'page-of-pets']);
  });

  it('does not exist for health, documents or work that no request started', async () => {
    for (const path of ['/livez', '/readyz', '/openapi.json', '/v1/pets']) {
      await send(`${store.url}${path}`, { key });
    }
    const span = await server('listPets');
    await stop();
    expect(collector.spans().filter(({ traceId }) => traceId !== span.traceId)).toStrictEqual([]);
  });
});

describe('the settings OTEL_*', () => {
  it('name the service, sample, and add headers and attributes, as the SDK reads them', async () => {
    await start({
      OTEL_SERVICE_NAME: 'shop',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=blue',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=7',
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    });
    await send(`${store.url}/v1/pets`, { key });
    await send(`${store.url}/v1/pets`, { key, headers: { traceparent: `00-${TRACE}-${SPAN}-01` } });
    const resource = { 'service.name': 'shop', 'deployment.environment.name': 'blue' };
    expect(await server('listPets')).toMatchObject({ resource });
    expect(new Set(collector.spans().map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(collector.postings[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-tenant': '7' } });
  });

  it('default to the name of the service and to protobuf', async () => {
    await start({ OTEL_EXPORTER_OTLP_PROTOCOL: '' });
    await send(`${store.url}/v1/pets`, { key });
    await eventually(async () => {
      const { postings } = collector;
      expect(postings[0]).toMatchObject({ path: '/v1/traces', type: 'application/x-protobuf' });
      const texts = ['animal-store', 'listPets', 'page-of-pets'];
      expect(texts.filter((text) => postings.some(({ body }) => body.includes(text)))).toEqual(texts);
    });
  });
});

describe('a collector', () => {
  it('is trusted by the certificate of OTEL_EXPORTER_OTLP_CERTIFICATE', async () => {
    const certificate = await createCertificate();
    const secure = await startCollector(() => 200, certificate);
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: secure.url,
      OTEL_EXPORTER_OTLP_CERTIFICATE: certificate.certificate,
    });
    await send(`${store.url}/v1/pets`, { key });
    await secure.span(({ name }) => name === 'listPets');
    await stop();
    await secure.close();
    await rm(certificate.folder, { recursive: true });
  });

  it.each([
    ['rejects connections', 'gone'],
    ['responds with errors', 500],
    ['never responds', null],
    ['has a name whose look-up hangs', 'unknown'],
  ])(
    'disturbs no request when it %s, delays the end by at most its deadline, and the loss is logged',
    async (_how, behaviour) => {
      const warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
      const looksUp = jest.spyOn(dns, 'lookup').mockImplementation(() => new Promise(() => {}));
      await collector.close();
      let { url } = collector;
      if (behaviour === 'unknown') {
        url = 'http://hanging.example:4318';
      } else if (behaviour !== 'gone') {
        collector = await startCollector(() => behaviour as number | null);
        ({ url } = collector);
      }
      await start({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
      for (let sent = 0; sent < 10; sent += 1) {
        expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(200);
      }
      const startMs = performance.now();
      await stop();
      expect(performance.now() - startMs).toBeLessThan(3000);
      expect(warnings).toHaveBeenCalledWith(expect.stringMatching(/^Spans were lost: /));
      expect(looksUp.mock.calls.length).toBe(behaviour === 'unknown' ? 1 : 0);
      jest.restoreAllMocks();
    },
  );

  /** Node 20 has no proxies. */
  const itWithProxies = process.allowedNodeEnvironmentFlags.has('--use-env-proxy') ? it : it.skip;

  itWithProxies('is reached by the proxy of the settings of Node, which looks up its name', async () => {
    const database = await createDatabase();
    const services = new ServiceProcesses(() => ({
      DATABASE_URL: database.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.invalid:4318',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: collector.url,
    }));
    const url = await services.start().ready();
    await send(`${url}/v1/pets`, { key: (await issueKey(database)).key });
    const path = 'http://collector.invalid:4318/v1/traces';
    await eventually(async () => expect(collector.postings[0]).toMatchObject({ path }));
    await services.end('SIGKILL');
    await database.drop();
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import getPort from 'get-port';
import { builtImage } from './image/image.js';
import { DebianPostgres, describeOnDebianPostgres } from '../support/programs/debian-postgres.js';
import { query } from '../support/database/database.js';
import { send } from '../support/http/http.js';
import { type Haproxy, startHaproxy } from '../support/programs/load-balancers.js';
import { scrape } from '../support/http/metrics.js';
import { type Deployment, findKubectls, Manifests } from './manifests.js';
import { Pod } from './image/pod.js';

const CLIENTS = 4;
/** The time of load after the pod has stopped. */
const ASIDE_MS = 1_000;

describeOnDebianPostgres('a pod of the overlay production for Kubernetes, in the image', () => {
  let postgres: DebianPostgres;
  let deployment: Deployment['spec'];
  let ports: [http: number, metrics: number][];
  let pods: [Pod, Pod];
  let balancer: Haproxy;
  let key: string;

  beforeAll(async () => {
    const [kubectl = ''] = findKubectls();
    deployment = Manifests.render(kubectl, 'production').get('Deployment').spec;
    postgres = await DebianPostgres.create();
    await postgres.start();
    await query(postgres.url(), 'CREATE ROLE animal_store LOGIN');
    await query(postgres.url(), 'CREATE DATABASE animal_store OWNER animal_store');
    const uri = `postgresql://animal_store:secret@127.0.0.1:${postgres.port}/animal_store`;
    const createPod = async (): Promise<Pod> => {
      const [http, metrics] = [await getPort({ host: '127.0.0.1' }), await getPort({ host: '127.0.0.1' })];
      ports = [...(ports ?? []), [http, metrics]];
      const secrets = { 'animal-store-postgres-app': { uri } };
      return new Pod(deployment.template.spec, builtImage(), secrets, { http, metrics });
    };
    pods = [await createPod(), await createPod()];
    const [container] = deployment.template.spec.containers;
    const checkTimeoutMs = Number(container?.readinessProbe.timeoutSeconds) * 1000;
    balancer = await startHaproxy(
      ports.map(([http]) => http),
      checkTimeoutMs,
    );
  });
  afterAll(async () => {
    await Promise.all(pods.map((pod) => pod.stop()));
    await balancer.stop();
    await postgres.remove();
  });

  it('migrates and seeds the database, then becomes ready', async () => {
    expect(await pods[0].start()).toMatch(
      /The database is up to date\.\nThe plans exist\.[^]* shown this once: ask_live_\w{38}\n/,
    );
  });

  it('serves metrics on their own port alone', async () => {
    const [[http, metrics] = []] = ports;
    expect((await scrape(`http://127.0.0.1:${metrics}`)).value('animal_store_build_info')).toBe(1);
    expect((await send(`http://127.0.0.1:${http}/metrics`)).status).toBe(404);
  });

  it('is administered by kubectl exec', async () => {
    const limits = ['--per-minute', '1000000', '--per-day', '10000000'];
    const options = ['--name', 'busy', '--plan', 'enterprise', ...limits, '--json'];
    key = JSON.parse(await pods[0].execute('animal-store', 'keys', 'issue', ...options)).key;
    expect(key).toMatch(/^ask_live_/);
  });

  it('is replaced by another one under load without a failed request', async () => {
    const [old, next] = pods;
    await balancer.sends(ports[0]?.[0] as number);
    const outcomes: (number | string)[] = [];
    const request = (init: object) => send(`${balancer.url}/v1/pets`, { key, ...init });
    const load = { isOver: false };
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!load.isOver) {
        for (const init of [{}, { method: 'POST', body: { name: 'Rolling', categoryId: 1 } }]) {
          outcomes.push(
            await request(init).then(({ status, text }) => (status < 400 ? status : text), String),
          );
        }
      }
    });
    await next.start();
    await pause(deployment.minReadySeconds * 1000);
    const startedMs = performance.now();
    const code = await old.stop();
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    await pause(ASIDE_MS);
    load.isOver = true;
    await Promise.all(clients);
    process.stdout.write(`A pod stopped within ${seconds} s, under ${outcomes.length} requests.\n`);
    expect(outcomes.filter((outcome) => typeof outcome === 'string')).toStrictEqual([]);
    expect(outcomes.length).toBeGreaterThan(500);
    // Not killed after its grace.
    expect(code).toBe(0);
    expect([...old.failures, ...next.failures]).toStrictEqual([]);
  });
});

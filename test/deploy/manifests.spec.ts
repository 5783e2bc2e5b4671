import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { parseDuration } from '../../src/process/settings/duration.js';
import { readEnvironment, settings } from '../../src/process/settings/environment.js';
import { SECRETS } from '../../src/process/settings/secret-files.js';
import {
  type ContainerSpec,
  DEPLOY,
  findKubectls,
  type Labels,
  Manifests,
  type PodSpec,
} from './manifests.js';
import { findFaults } from './schemas.js';

const NAMESPACE = 'animal-store';
/** Connections of a replica beside its pools: one that counts, and one for key changes. */
const MORE_CONNECTIONS = 2;
/** Replicas that still stop while a rollout goes on. */
const STOPPING = 2;

const [kubectl, ...otherKubectls] = findKubectls();
const page = readFileSync(path.join(DEPLOY, '../docs/kubernetes.md'), 'utf8');

const listContainers = ({ initContainers, containers }: PodSpec) => [
  ...((initContainers as ContainerSpec[] | undefined) ?? []),
  ...containers,
];
const listVariables = ({ env }: ContainerSpec) =>
  Object.fromEntries(env.map(({ name, value }) => [name, value]));
const selects = (selector: { matchLabels?: Labels } | undefined, labels: Labels) =>
  Object.entries(selector?.matchLabels ?? {}).every(([name, value]) => labels[name] === value);

const inNamespace = (name: string) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
});
const labelled = (name: string) => ({ matchLabels: { 'app.kubernetes.io/name': name } });
/** The label that CloudNativePG gives to the pods of a Cluster. */
const DATABASE = labelled('postgresql');

function testOverlay(manifests: Manifests, overlay: string): void {
  const { spec: deployment } = manifests.get('Deployment');
  const pod = deployment.template.spec;
  const container = pod.containers[0] as ContainerSpec;
  const environment = listVariables(container);
  const others = manifests.all('StatefulSet').map(({ spec }) => spec.template);
  const pods = [pod, ...others.map(({ spec }) => spec)];
  const containers = pods.flatMap(listContainers);
  const service = manifests.get('Service', 'animal-store');
  const { spec: policy } = manifests.get('NetworkPolicy');

  it('is rendered the same by every kubectl on this machine', () => {
    for (const other of otherKubectls) {
      expect(Manifests.render(other, overlay)).toEqual(manifests);
    }
  });

  it('has only objects that the schemas of their kinds allow, without unknown fields', async () => {
    expect((await Promise.all(manifests.objects.map(findFaults))).flat()).toStrictEqual([]);
    expect(new Set(manifests.objects.map(({ metadata }) => metadata.namespace))).toEqual(
      new Set([NAMESPACE]),
    );
  });

  it('runs every container read-only, without root and without privileges', () => {
    const [profile, user] = [{ type: 'RuntimeDefault' }, expect.any(Number)];
    for (const { securityContext } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: user, seccompProfile: profile });
    }
    for (const { securityContext } of containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    expect(pod.securityContext).toMatchObject({ runAsUser: 1000, runAsGroup: 1000 });
  });

  it('gives no pod a token for the API server, or variables for other Services', () => {
    const account = manifests.get('ServiceAccount');
    expect(pod.serviceAccountName).toBe(account.metadata.name);
    for (const { automountServiceAccountToken } of [account, ...pods]) {
      expect(automountServiceAccountToken).toBe(false);
    }
    expect(pods.map(({ enableServiceLinks }) => enableServiceLinks)).toEqual(pods.map(() => false));
  });

  it('requests CPU and memory for every container, limits its memory, and gives each image a version', () => {
    const some = expect.any(String);
    for (const { resources, image } of containers) {
      expect(resources).toMatchObject({ requests: { cpu: some, memory: some }, limits: { memory: some } });
      expect(image).toMatch(/:(?!latest\b)[\w.-]+(@sha256:[0-9a-f]{64})?$/);
    }
  });

  it('selects exactly the pods of the service', () => {
    const selectors = [
      deployment.selector,
      { matchLabels: service.spec.selector },
      policy.podSelector,
      ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector),
      ...manifests.all('PodDisruptionBudget').map(({ spec }) => spec.selector),
    ];
    expect(selectors).toEqual(selectors.map(() => ({ matchLabels: deployment.template.metadata.labels })));
    expect(others.filter(({ metadata }) => selects(deployment.selector, metadata.labels))).toStrictEqual([]);
    for (const { spec } of manifests.all('ServiceMonitor')) {
      expect(selects(spec.selector, service.metadata.labels)).toBe(true);
    }
  });

  it('has the same ports in the container, the Service and the monitor', () => {
    expect(container.ports).toEqual([
      { name: 'http', containerPort: settings.shape.PORT.parse(undefined) },
      { name: 'metrics', containerPort: Number(environment['METRICS_PORT']) },
    ]);
    expect(service.spec.ports).toMatchObject(container.ports.map(({ name }) => ({ name, targetPort: name })));
    for (const { spec } of manifests.all('ServiceMonitor')) {
      expect(spec.endpoints).toMatchObject([{ port: 'metrics' }]);
    }
  });

  it('sets only variables that are settings, to valid values', () => {
    const names = new Set([...Object.keys(settings.shape), ...SECRETS.map((name) => `${name}_FILE`)]);
    for (const variables of listContainers(pod).map(listVariables)) {
      expect(Object.keys(variables).filter((name) => !names.has(name))).toStrictEqual([]);
      const database = { DATABASE_URL_FILE: '', DATABASE_URL: 'postgres://database' };
      const { APP_ENV } = readEnvironment({ ...variables, ...database, NODE_ENV: 'production' });
      expect(APP_ENV).toBe(environment['APP_ENV']);
    }
  });

  it('has no secret in it, and mounts secrets where the settings expect them', () => {
    expect(manifests.all('Secret')).toStrictEqual([]);
    for (const { volumes, ...spec } of pods) {
      for (const { env, volumeMounts } of listContainers({ volumes, ...spec })) {
        const mounted = volumeMounts.flatMap(({ name, mountPath }) =>
          (volumes.find((volume) => volume.name === name)?.secret?.items ?? []).map(
            (item) => `${mountPath}/${item.path}`,
          ),
        );
        expect(env.flatMap(({ name, value }) => (name.endsWith('_FILE') ? [value] : []))).toEqual(mounted);
        expect(env.filter(({ value }) => /:[^/]*@/.test(value))).toStrictEqual([]);
      }
    }
  });

  it('refers only to secrets that docs/kubernetes.md explains', () => {
    const mounted = pods.flatMap(({ volumes }) => volumes.flatMap(({ secret }) => secret ?? []));
    const names = [
      ...mounted.flatMap(({ secretName, items }) => [secretName, ...items.map(({ key }) => key)]),
      ...manifests.all('Ingress').flatMap(({ spec }) => spec.tls.map(({ secretName }) => secretName)),
    ];
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toStrictEqual([]);
  });

  it('restarts a pod that hangs for a minute, but not one whose database is unavailable', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const { httpGet, periodSeconds, failureThreshold } of [startupProbe, livenessProbe]) {
      expect(httpGet).toEqual({ path: '/livez', port: 'http' });
      expect(periodSeconds * failureThreshold).toBe(60);
    }
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
  });

  it('spreads pods over zones and nodes, but lets none wait for a zone or a node that is down', () => {
    const keys = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'];
    expect(pod.topologySpreadConstraints).toMatchObject(
      keys.map((topologyKey) => ({ topologyKey, whenUnsatisfiable: 'ScheduleAnyway' })),
    );
  });

  it('adds a pod before it stops another, and waits longer than the shutdown takes', () => {
    expect(deployment.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    const { SHUTDOWN_DELAY = '', SHUTDOWN_GRACE = '' } = environment;
    const shutdownMs = Number(parseDuration(SHUTDOWN_DELAY)) + Number(parseDuration(SHUTDOWN_GRACE));
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(shutdownMs);
  });

  it('lets only the Ingress controller reach the service, and only monitoring its metrics', () => {
    expect(policy.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(policy.ingress).toEqual([
      { from: [inNamespace('traefik')], ports: [{ port: 'http' }] },
      { from: [inNamespace('monitoring')], ports: [{ port: 'metrics' }] },
    ]);
  });

  it('lets pods reach only DNS, the database, a counter store, a collector, public TLS addresses', () => {
    const collector = { ...inNamespace('monitoring'), podSelector: labelled('opentelemetry-collector') };
    const except = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];
    expect(policy.egress).toEqual([
      { ports: ['UDP', 'TCP'].map((protocol) => ({ port: 53, protocol })) },
      { to: [{ podSelector: DATABASE }], ports: [{ port: 5432 }] },
      { to: [{ podSelector: labelled('valkey') }], ports: [{ port: 6379 }] },
      { to: [collector], ports: [{ port: 4318 }] },
      {
        to: [
          { ipBlock: { cidr: '0.0.0.0/0', except } },
          { ipBlock: { cidr: '::/0', except: ['fc00::/7', 'fe80::/10'] } },
        ],
        ports: [{ port: 443 }],
      },
    ]);
    for (const { metadata } of others) {
      expect(metadata.labels).toEqual(DATABASE.matchLabels);
    }
  });

  it('leaves the number of replicas to an autoscaler if there is one, and has a budget only then', () => {
    expect(deployment).not.toHaveProperty('replicas');
    const autoscaler = {
      scaleTargetRef: { kind: 'Deployment', name: 'animal-store' },
      minReplicas: 2,
      metrics: [{ resource: { name: 'cpu' } }],
      // Slowly down.
      behavior: { scaleDown: { policies: [{ type: 'Pods', value: 1 }] } },
    };
    const budget = { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' };
    const specs = ['HorizontalPodAutoscaler', 'PodDisruptionBudget'] as const;
    expect(specs.flatMap((kind) => manifests.all(kind).map(({ spec }) => spec))).toMatchObject(
      overlay === 'production' ? [autoscaler, budget] : [],
    );
  });
}

function testSmall(manifests: Manifests): void {
  it('has the database of the URL in docs/kubernetes.md', () => {
    const { spec } = manifests.get('StatefulSet');
    const [container] = spec.template.spec.containers as [ContainerSpec];
    const { POSTGRES_USER, POSTGRES_DB } = listVariables(container);
    const [port] = manifests.get('Service', spec.serviceName).spec.ports;
    expect(container.ports).toEqual([{ name: port?.targetPort, containerPort: port?.port }]);
    expect(page).toContain(`//${POSTGRES_USER}:$P@${spec.serviceName}:${port?.port}/${POSTGRES_DB}\n`);
  });
}

function testProduction(manifests: Manifests): void {
  const { spec: deployment } = manifests.get('Deployment');
  const environment = listVariables(deployment.template.spec.containers[0] as ContainerSpec);
  const cluster = manifests.get('Cluster');

  it('opens no more connections than the database allows, even with the most replicas', () => {
    const { maxReplicas } = manifests.get('HorizontalPodAutoscaler').spec;
    const replicas = maxReplicas + Number(deployment.strategy.rollingUpdate.maxSurge) + STOPPING;
    const pooled = settings.shape.DATABASE_POOL_SIZE.parse(environment['DATABASE_POOL_SIZE']);
    const allowed = Number(cluster.spec.postgresql.parameters['max_connections']);
    expect(replicas * (pooled + MORE_CONNECTIONS)).toBeLessThanOrEqual(allowed);
  });

  it('reads the address of its database from the secret that CloudNativePG makes', () => {
    expect(deployment.template.spec.volumes.map(({ secret }) => secret)).toMatchObject([
      { secretName: `${cluster.metadata.name}-app`, items: [{ key: 'uri', path: 'url' }] },
    ]);
  });

  it('has each acknowledged write on two of three instances of its database', () => {
    const synchronous = { method: 'any', number: 1 };
    expect(cluster.spec).toMatchObject({ instances: 3, postgresql: { synchronous } });
  });

  it('is reached at the address in its documents, through one proxy', () => {
    const { rules, tls } = manifests.get('Ingress').spec;
    const { host } = new URL(environment['PRODUCTION_URL'] ?? '');
    const backend = { service: { name: 'animal-store', port: { name: 'http' } } };
    expect(rules).toEqual([{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }]);
    expect(tls.map(({ hosts }) => hosts)).toEqual([[host]]);
    expect(environment['TRUST_PROXY']).toBe('1');
  });

  it('has the alerts of deploy/prometheus/rules.yml', () => {
    const rules = parse(readFileSync(path.join(DEPLOY, 'prometheus/rules.yml'), 'utf8'));
    expect(manifests.get('PrometheusRule').spec).toEqual(rules);
  });
}

if (kubectl !== undefined) {
  for (const overlay of ['small', 'production']) {
    describe(`the overlay ${overlay} for Kubernetes`, () => {
      const manifests = Manifests.render(kubectl, overlay);
      testOverlay(manifests, overlay);
      const testAlone = overlay === 'production' ? testProduction : testSmall;
      testAlone(manifests);
    });
  }
}

describe('the schemas of Kubernetes', () => {
  it('refuse a value of a wrong type, and a field that does not exist', async () => {
    const budgets = [{ maxUnavailable: true }, { maxUnavailable: 1, minAvailabel: 1 }];
    const storage = { size: '1Gi' };
    const objects = [
      ...budgets.map((spec) => ({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec })),
      ...[
        { instances: 'three', storage },
        { instances: 3, storage, postgresql: { parameter: {} } },
      ].map((spec) => ({ apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', metadata: {}, spec })),
    ];
    expect(await Promise.all(objects.map(findFaults))).toEqual([
      [expect.stringContaining('/spec/maxUnavailable must be')],
      ['.spec.minAvailabel is unknown'],
      [expect.stringContaining('/spec/instances must be')],
      ['.spec.postgresql.parameter is unknown'],
    ]);
  });
});

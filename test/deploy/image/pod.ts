import { mkdtempSync } from 'node:fs';
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Container } from './container.js';
import type { Image } from './image.js';
import { until } from '../../support/eventually.js';
import type { ContainerSpec, PodSpec } from '../manifests.js';

/**
 * The folder where `Container` mounts secrets, as a user and with rights that it does not take from a
 * specification.
 */
const SECRETS = '/run/secrets/';
const USER = { runAsUser: 1000, runAsGroup: 1000 };
const RIGHTS = {
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};

/**
 * Runs the specification of a pod as a kubelet does: its init containers one after the other, then its
 * container with its probes. It shares this machine's network, so it gets other ports.
 */
export class Pod {
  /** The state of each probe. */
  readonly passes = { startup: false, readiness: false, liveness: true };
  /** Probes that failed as often as their threshold. */
  readonly failures: string[] = [];
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'animal-store-pod-'));
  private container: Container | undefined;
  private isStopping = false;

  /**
   * @param secrets by their names, with values by key.
   * @param ports of this machine, by the names of the container's ports.
   */
  constructor(
    private readonly spec: PodSpec,
    private readonly image: Image,
    private readonly secrets: Record<string, Record<string, string>>,
    private readonly ports: Record<string, number>,
  ) {}

  /**
   * Starts the pod, and waits until its startup and readiness probes pass.
   *
   * @returns the output of its init containers.
   */
  async start(): Promise<string> {
    let output = '';
    for (const spec of this.spec.initContainers) {
      const { code, stdout, stderr } = await (await this.run(spec)).ended;
      output += stdout;
      if (code !== 0) {
        throw new Error(`The init container ${spec.name} failed: ${output}${stderr}`);
      }
    }
    const [spec] = this.spec.containers as [ContainerSpec];
    this.container = await this.run(spec);
    await this.watch('startup', () => this.passes.startup || this.failures.length > 0);
    void this.watch('readiness');
    void this.watch('liveness');
    await until(() => this.passes.readiness);
    return output;
  }

  /** Runs a command as `kubectl exec` does. @returns its standard output. */
  async execute(...command: string[]): Promise<string> {
    const [spec] = this.spec.containers as [ContainerSpec];
    return (await (await this.run({ ...spec, command })).ended).stdout;
  }

  /** Stops the pod: SIGTERM, and SIGKILL after its grace. @returns its exit code, 137 after SIGKILL. */
  async stop(): Promise<number | null> {
    this.isStopping = true;
    const graceMs = this.spec.terminationGracePeriodSeconds * 1000;
    const timer = setTimeout(() => void this.container?.stop('SIGKILL'), graceMs);
    const ended = await this.container?.stop('SIGTERM');
    clearTimeout(timer);
    await rm(this.folder, { recursive: true, force: true });
    return ended?.code ?? null;
  }

  /**
   * Probes with the period of the probe. One success suffices; a failure needs as many in a row as the
   * threshold.
   */
  private async watch(name: keyof Pod['passes'], isOver = () => false): Promise<void> {
    const [spec] = this.spec.containers as [ContainerSpec];
    const { httpGet, periodSeconds, timeoutSeconds, failureThreshold } = spec[`${name}Probe`];
    const url = `http://127.0.0.1:${this.ports[httpGet.port]}${httpGet.path}`;
    for (
      let failures = 0;
      !this.isStopping && !isOver();
      await pause(periodSeconds * 1000, null, { ref: false })
    ) {
      const response = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1000) }).catch(
        () => null,
      );
      failures = response?.ok === true ? 0 : failures + 1;
      if (failures === 0) {
        this.passes[name] = true;
      } else if (failures >= failureThreshold && !this.isStopping) {
        this.passes[name] = false;
        this.failures.push(`${name}: ${response?.status}`);
      }
    }
  }

  private async run({ command, args, env, volumeMounts, securityContext }: Partial<ContainerSpec>) {
    expect(this.spec.securityContext).toMatchObject(USER);
    expect(securityContext).toMatchObject(RIGHTS);
    const { config } = this.image;
    const Cmd = args ?? (command === undefined ? config.Cmd : []);
    const image = { ...this.image, config: { ...config, Entrypoint: command ?? config.Entrypoint, Cmd } };
    const secrets: Record<string, string> = {};
    for (const { name, mountPath } of volumeMounts ?? []) {
      expect(mountPath.startsWith(SECRETS)).toBe(true);
      secrets[mountPath.slice(SECRETS.length)] = await this.mount(name);
    }
    const own = {
      HOST: '127.0.0.1',
      PORT: String(this.ports['http']),
      METRICS_PORT: String(this.ports['metrics']),
    };
    const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    return new Container(image, { env: { ...variables, ...own }, secrets });
  }

  /** Makes the folder of a volume. @throws Error if its secret or one of its keys does not exist. */
  private async mount(volume: string): Promise<string> {
    const { secret } = this.spec.volumes.find(({ name }) => name === volume) ?? {};
    const folder = path.join(this.folder, volume);
    await mkdir(folder, { recursive: true });
    for (const { key, path: name } of secret?.items ?? []) {
      const value = this.secrets[secret?.secretName ?? '']?.[key];
      if (value === undefined) {
        throw new Error(`The secret ${secret?.secretName} has no key ${key}`);
      }
      const file = path.join(folder, name);
      await writeFile(file, value);
      await chown(file, 0, this.spec.securityContext.fsGroup);
      await chmod(file, secret?.defaultMode ?? 0);
    }
    return folder;
  }
}

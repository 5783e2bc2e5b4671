import { Redis } from 'ioredis';
import { until } from '../eventually.js';
import { freePort } from './free-port.js';
import { FAKETIME } from '../time/faketime.js';
import { findProgram, reportMissing, startProgram } from './programs.js';
import { commandOfTestTime } from '../time/test-time.js';

/** A server that tests start as Redis, named as its program and its Debian package. */
export type RedisProgram = 'redis-server' | 'valkey-server';

interface StartOptions {
  program?: RedisProgram;
  port?: number;
  deadlineMs?: number;
  /** The words before its settings. */
  command?: string[];
}

export interface RedisServer {
  url: string;
  port: number;
  pid: number;
  /** A connection for the test's own commands, as an operator would have. */
  operator: Redis;
  /** Stops the process with SIGSTOP, so that it hangs. */
  pause(): void;
  goOn(): void;
  stop(): Promise<void>;
}

/**
 * Returns whether this machine has a Redis server. Without one, its tests are skipped with a message; in CI
 * they fail.
 */
export const hasRedis = (program: RedisProgram = 'redis-server') =>
  findProgram(program, program) !== undefined;

/** Returns whether this machine also has what moves the time of a Redis server. */
export function hasMovableRedis(program?: RedisProgram): boolean {
  if (FAKETIME === undefined) {
    reportMissing('the package faketime');
  }
  return hasRedis(program) && FAKETIME !== undefined;
}

/** Tests with the Redis of this machine. */
export function describeOnRedis(name: string, tests: () => void): void {
  (hasRedis() ? describe : describe.skip)(name, tests);
}

const describeOnEach =
  (isHere: (program: RedisProgram) => boolean) =>
  (name: string, tests: (program: RedisProgram) => void): void => {
    for (const program of ['redis-server', 'valkey-server'] as const) {
      (isHere(program) ? describe : describe.skip)(`${name} (${program})`, () => tests(program));
    }
  };

/** Tests with the Redis of this machine, and with its Valkey. */
export const describeOnRedisAndValkey = describeOnEach(hasRedis);

/** Tests with both, whose time they move. */
export const describeOnMovableRedisAndValkey = describeOnEach(hasMovableRedis);

/** Starts a server that takes its time from this test file. */
export const startMovableRedis = (
  settings?: Record<string, string>,
  options?: StartOptions,
): Promise<RedisServer> =>
  startRedis(settings, { ...options, command: commandOfTestTime(options?.program ?? 'redis-server') });

/** Starts a server that stores nothing on disk, on a free port unless one is given. */
export async function startRedis(
  settings: Record<string, string> = {},
  { program = 'redis-server', command = [program], port: onPort, deadlineMs }: StartOptions = {},
): Promise<RedisServer> {
  const port = onPort ?? (await freePort());
  const all = {
    bind: '127.0.0.1',
    port: String(port),
    save: '',
    appendonly: 'no',
    // By default a master waits five seconds for a second replica before it sends its data to the first.
    'repl-diskless-sync-delay': '0',
    ...settings,
  };
  const { operator, isReady } = createOperator(port, settings['requirepass']);
  const options = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  const server = await startProgram([...command, ...options], {}, isReady, deadlineMs).catch(
    (error: unknown) => {
      operator.disconnect();
      throw error;
    },
  );
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: server.process.pid ?? NaN,
    operator,
    pause: () => server.process.kill('SIGSTOP'),
    goOn: () => server.process.kill('SIGCONT'),
    stop: () => {
      operator.disconnect();
      return server.stop('SIGKILL');
    },
  };
}

/**
 * Returns a connection for a test's own commands, and what opens it once the server is up. It is not opened
 * again by itself.
 */
export function createOperator(
  port: number,
  password?: string,
): { operator: Redis; isReady: () => Promise<boolean> } {
  const operator = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    retryStrategy: () => null,
    ...(password !== undefined && { password }),
  });
  operator.on('error', () => {});
  const isReady = () =>
    operator.connect().then(
      () => true,
      () => false,
    );
  return { operator, isReady };
}

/**
 * Starts three masters without replicas, each with a third of the slots.
 *
 * @param moreSettings returns further settings of a master, by its port and the port of its bus.
 */
export async function startRedisCluster(
  program: RedisProgram = 'redis-server',
  moreSettings: (port: number, busPort: number) => Promise<Record<string, string>> = async () => ({}),
): Promise<{ masters: RedisServer[]; stop(): Promise<void> }> {
  const masters: RedisServer[] = [];
  const stop = async () => {
    await Promise.all(masters.map((master) => master.stop()));
  };
  try {
    await formCluster(masters, program, moreSettings);
  } catch (error) {
    await stop();
    throw error;
  }
  return { masters, stop };
}

/** Starts the masters, and adds each to `masters`. */
async function formCluster(
  masters: RedisServer[],
  program: RedisProgram,
  moreSettings: (port: number, busPort: number) => Promise<Record<string, string>>,
): Promise<void> {
  const SLOTS = 16_384;
  const busPorts: number[] = [];
  for (let index = 0; index < 3; index += 1) {
    const [port, busPort] = [await freePort(), await freePort()];
    busPorts.push(busPort);
    // The bus has by default a port 10,000 above, which a free port of this machine may not have.
    const settings = { 'cluster-enabled': 'yes', 'cluster-port': String(busPort) };
    Object.assign(settings, await moreSettings(port, busPort));
    masters.push(await startRedis(settings, { program, port }));
  }
  const [first, ...others] = masters as [RedisServer, ...RedisServer[]];
  for (const [index, { operator }] of masters.entries()) {
    const [from, to] = [index, index + 1].map((third) => Math.floor((third * SLOTS) / masters.length));
    await operator.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await operator.call('CLUSTER', 'ADDSLOTSRANGE', from as number, (to as number) - 1);
  }
  for (const [index, { port }] of others.entries()) {
    await first.operator.call('CLUSTER', 'MEET', '127.0.0.1', port, busPorts[index + 1] as number);
  }
  await until(async () => {
    const infos = await Promise.all(masters.map(({ operator }) => operator.call('CLUSTER', 'INFO')));
    return infos.every((info) => /cluster_state:ok[^]*cluster_known_nodes:3/.test(String(info)));
  }, 30_000);
}

import { setTimeout as pause } from 'node:timers/promises';
import { exchange, type Outcome } from '../clients/exchange.js';
import { monotonicMs } from '../ledger.js';
import type { RunningPeer, Stores } from './instances.js';
import { type Observation, WINDOW_MS } from './judge.js';
import type { Peer } from './peers.js';

/** What clients send and what fails, in milliseconds since the start of the trial. */
export interface Trial {
  title: string;
  lastsMs: number;
  /** When a request is sent. */
  sends: (peer: Peer) => number[];
  /** What fails after 12 seconds: one instance is killed, or the store is restarted or frozen. */
  fault?: 'kill' | 'restart' | 'freeze';
  /** Whether peers take turns, because a burst takes all of this machine. */
  takesTurns?: boolean;
}

const START_MS = 500;
const FAULT_MS = 12_000;
const FROZEN_MS = 5000;
const TURN_MS = 3000;
const BURST = 500;

const flow = (perSecond: number, fromMs: number, toMs: number) =>
  Array.from(
    { length: Math.floor(((toMs - fromMs) / 1000) * perSecond) },
    (_, index) => fromMs + (index * 1000) / perSecond,
  );
/** Three times the limit. */
const steady = (lastsMs: number) => () => flow(3, START_MS, lastsMs);

/** A trial begins with a minute of the clock, so that all windows do. */
export const TRIALS = {
  steady: { title: '3 × the limit', lastsMs: 130_000, sends: steady(130_000) },
  start: {
    title: '500 at once',
    lastsMs: 75_000,
    sends: () => [...Array<number>(BURST).fill(START_MS), ...flow(1, START_MS + 1000, 75_000)],
    takesTurns: true,
  },
  edge: {
    title: '500 across the edge',
    lastsMs: 75_000,
    sends: ({ rule }) => {
      const edgeMs = WINDOW_MS + (rule.kind === 'clock' ? 0 : START_MS);
      return [START_MS, ...flow(BURST / 2, edgeMs - 1000, edgeMs + 1000), ...flow(1, edgeMs + 2000, 75_000)];
    },
    takesTurns: true,
  },
  kill: {
    title: 'an instance killed',
    lastsMs: 75_000,
    sends: steady(75_000),
    fault: 'kill',
    takesTurns: true,
  },
  restart: { title: 'store restarted', lastsMs: 75_000, sends: steady(75_000), fault: 'restart' },
  freeze: { title: 'store frozen for 5 s', lastsMs: 75_000, sends: steady(75_000), fault: 'freeze' },
} satisfies Record<string, Trial>;
export type TrialName = keyof typeof TRIALS;

/** The trial of `--quick`, which waits for no minute. */
export const QUICK: Trial = {
  title: '200 in ten seconds',
  lastsMs: 10_000,
  sends: () => flow(20, 0, 10_000),
};

/** Whether what fails is the stores. */
export const hitsStores = ({ fault }: Trial): boolean => fault === 'restart' || fault === 'freeze';

/** Waits, unless the run is interrupted. */
type Sleep = (ms: number) => Promise<void>;

/**
 * Runs a trial on peers at the same time.
 *
 * @param stores those that its fault hits.
 * @returns what clients saw of each.
 */
export async function runTrial<Name extends string>(
  trial: Trial,
  peers: Map<Name, Peer & RunningPeer>,
  stores: Stores,
  signal: AbortSignal,
): Promise<Map<Name, Observation[]>> {
  const sleep: Sleep = (ms) => pause(Math.max(0, ms), undefined, { signal });
  const keys = new Map<Name, string>();
  for (const [name, peer] of peers) {
    await Promise.all(peer.instances.map((instance) => instance.revive()));
    keys.set(name, await peer.issueKey());
  }
  if (trial !== QUICK) {
    await sleep(WINDOW_MS - (Date.now() % WINDOW_MS));
  }
  const startMs = Date.now();
  const failing = failStores(trial, stores, sleep);
  const takeTurn = trial.takesTurns === true ? countTurns() : () => 0;
  const observed = [...peers].map(async ([name, peer]): Promise<[Name, Observation[]]> => {
    const waitMs = takeTurn(peer);
    const failingInstance = failInstance(trial, peer, startMs + waitMs, sleep);
    const times = trial.sends(peer).map((ms) => startMs + waitMs + ms);
    const observations = await sendAll(times, peer, keys.get(name) ?? '', sleep);
    await failingInstance;
    return [name, observations];
  });
  return new Map((await Promise.all([...observed, failing])).filter((each) => each !== undefined));
}

/** Counts how long each peer waits for its turn: a minute for windows of the clock. */
function countTurns(): (peer: Peer) => number {
  let minutes = 0;
  let others = 0;
  return ({ rule }) => {
    if (rule.kind === 'clock') {
      minutes += 1;
      return (minutes - 1) * WINDOW_MS;
    }
    others += 1;
    return others * TURN_MS;
  };
}

/** Restarts or freezes all stores. */
async function failStores(trial: Trial, stores: Stores, sleep: Sleep): Promise<undefined> {
  if (hitsStores(trial)) {
    await sleep(FAULT_MS);
    await Promise.all(
      Object.values(stores).map(async (store) => {
        if (trial.fault === 'restart') {
          await store.restart();
        } else {
          await store.freeze();
          await sleep(FROZEN_MS).finally(() => store.goOn());
        }
      }),
    );
  }
}

/** Kills the second instance, and starts it again. */
async function failInstance({ fault }: Trial, peer: RunningPeer, startMs: number, sleep: Sleep) {
  if (fault === 'kill') {
    await sleep(startMs + FAULT_MS - Date.now());
    const [, second] = peer.instances;
    await second.kill();
    await second.start();
  }
}

/** Sends a request at each of these times, to one instance after the other, without waiting for responses. */
async function sendAll(
  times: number[],
  { instances }: RunningPeer,
  secret: string,
  sleep: Sleep,
): Promise<Observation[]> {
  const key = { name: 'peers', secret, quota: null };
  const request = { method: 'GET', path: '/v1/pets?limit=1', key, idempotencyKey: null, body: null };
  const pending: Promise<Observation>[] = [];
  for (const [index, atMs] of times.entries()) {
    if (atMs > Date.now()) {
      await sleep(atMs - Date.now());
    }
    const { port } = instances[index % 2 === 0 ? 0 : 1];
    const wallMs = Date.now() - monotonicMs();
    const sent = exchange({ port }, { ...request, record: null, abandonAfterMs: null });
    pending.push(sent.then((outcome) => observe(outcome, wallMs)));
  }
  return Promise.all(pending);
}

/** @param wallMs the wall clock minus the monotonic one. */
function observe(outcome: Outcome | null, wallMs: number): Observation {
  if (outcome === null) {
    return { sentMs: wallMs + monotonicMs(), receivedMs: null, status: null };
  }
  const { sentMs, receivedMs, status, headers } = outcome;
  const { remaining, reset, degraded } = headers;
  const endMs = reset === undefined || receivedMs === null ? undefined : endOf(reset, wallMs + receivedMs);
  return {
    sentMs: wallMs + sentMs,
    receivedMs: receivedMs === null ? null : wallMs + receivedMs,
    status,
    ...(remaining !== undefined && { remaining }),
    ...(endMs !== undefined && { endMs }),
    ...(degraded && { isMarked: true }),
  };
}

/** Returns the end of a window: limiters report it in Unix time, or the seconds until then. */
const endOf = (reset: number, receivedMs: number) =>
  reset > 1_000_000_000 ? reset * 1000 : receivedMs + reset * 1000;

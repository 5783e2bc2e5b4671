import { Logger } from '@nestjs/common';
import { Cluster, type Redis } from 'ioredis';
import { InvalidEnvironmentError } from '../environment.js';
import type { RedisAddress } from '../redis-address.js';
import { CounterStoreError, type FailureKind } from './counter-store.js';
import { DeadlineError, withinDeadline } from './deadline.js';
import { OutageLog } from './outage-log.js';
import { connect, newClient, type RedisClient, type ScriptName } from './redis-client.js';
import { explain, NotConnectedError, unusable } from './redis-failure.js';
import { connectedKeys, expectLife, mastersOf, rediscover } from './redis-masters.js';

/** A question that was not answered by then fails. Whether the server did what it was asked is not known. */
const ANSWER_DEADLINE_MS = 500;
/** Between the beginnings of two tries to connect, unless the first takes longer. */
const RETRY_INTERVAL_MS = 500;
/** Keys that one step of a search passes, about, so that counting never waits long behind it. */
const SCAN_COUNT = 1000;

/** A script's key, and its values. */
export type Call = [key: string, ...values: (string | number)[]];
type Scripted = Record<ScriptName, (...call: Call) => Promise<unknown>>;

/** What one hash had in a field, and the time of the server that it was on, in milliseconds since the Unix epoch. */
export interface Field {
  key: string;
  value: string | null;
  nowMs: number;
}

/** A Redis or Valkey server or Cluster: it finds out by itself which. Connects anew whenever the connection is lost. */
export class RedisConnection {
  private readonly logger = new Logger(RedisConnection.name);
  private readonly outages = new OutageLog((line) => this.closed || this.logger.warn(line));
  /** Null while no server was reached and found fit to count. */
  private client: RedisClient | null = null;
  private retry: NodeJS.Timeout | undefined;
  private closed = false;
  /** Why it is not connected. */
  private fault: unknown = new NotConnectedError();

  constructor(private readonly addresses: readonly RedisAddress[]) {}

  /**
   * Connects. Where no server can be reached it returns all the same, and goes on trying.
   *
   * @throws InvalidEnvironmentError when one was reached, but is not fit to count.
   */
  async start(): Promise<void> {
    try {
      await this.open();
    } catch (error) {
      if (error instanceof InvalidEnvironmentError) {
        throw error;
      }
      this.openLater(error);
    }
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    this.client?.disconnect();
    this.client = null;
  }

  /**
   * Calls a script for each of many keys, all at once.
   *
   * @returns for each call what the script returned, or the CounterStoreError that tells why it did not: one for all calls
   *   that failed in the same way.
   */
  async run(script: ScriptName, calls: readonly Call[]): Promise<unknown[]> {
    const { client } = this;
    if (client?.status !== 'ready') {
      const refusal = this.refusal();
      return calls.map(() => refusal);
    }
    const outcomes = await inTime(send(client, script, calls));
    const errors = new Map<FailureKind, CounterStoreError>();
    const told = outcomes.map((outcome, index) => {
      if (outcome.status === 'fulfilled') {
        return outcome.value;
      }
      const error = explain(outcome.reason, client instanceof Cluster);
      if (error.kind === 'wrongType') {
        this.outages.away(`What Redis has at ${calls[index]?.[0]}`, new Error('it is no counter'));
      }
      errors.set(error.kind, errors.get(error.kind) ?? error);
      return errors.get(error.kind);
    });
    lookAfter(client, outcomes);
    return told;
  }

  /**
   * Asks every master for a sign of life.
   *
   * @throws CounterStoreError when one of them gives none.
   */
  async ping(): Promise<void> {
    await this.request((client) => answerOf(expectLife(client, ANSWER_DEADLINE_MS)));
  }

  /**
   * A field of every hash whose key matches a pattern, on all servers of a Cluster. What is no hash has none.
   *
   * @throws CounterStoreError when one of them is away.
   */
  async fields(pattern: string, field: string): Promise<Field[]> {
    return this.request(async (client) => {
      const found = await Promise.all(
        mastersOf(client).map(async (master) => {
          const values = new Map<string, string | null>();
          for await (const keys of keysOf(master, pattern)) {
            // Not of this master alone: a key may be moving to another just now.
            const reading = keys.map(async (key) =>
              values.set(key, await unlessSpoilt(client.hget(key, field))),
            );
            await answerOf(Promise.all(reading));
          }
          const [seconds, microseconds] = await answerOf(master.time());
          const nowMs = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
          return [...values].map(([key, value]) => ({ key, value, nowMs }));
        }),
      );
      return found.flat();
    });
  }

  private async request<Answer>(question: (client: RedisClient) => Promise<Answer>): Promise<Answer> {
    const { client } = this;
    if (client?.status !== 'ready') {
      throw this.refusal();
    }
    try {
      return await question(client);
    } catch (error) {
      throw explain(error, client instanceof Cluster);
    }
  }

  private async open(): Promise<void> {
    const client = await newClient(this.addresses);
    let fault: unknown;
    client.on('error', (error) => (fault = error));
    client.on('end', () => {
      // One that is not in use was closed by ourselves.
      if (client === this.client) {
        this.client = null;
        this.openLater(fault ?? new Error('the connection was closed'));
      }
    });
    if (client instanceof Cluster) {
      this.watchNodes(client);
    }
    try {
      await connect(client);
    } catch (error) {
      client.disconnect();
      // Of a refused connection the driver says here no more than that it is closed; its event said why.
      throw error instanceof InvalidEnvironmentError ? error : (fault ?? error);
    }
    if (this.closed) {
      client.disconnect();
      return;
    }
    this.client = client;
    this.outages.back('Redis');
  }

  /** @param triedMs when the last try began, if that is why. */
  private openLater(fault: unknown, triedMs = performance.now()): void {
    if (this.closed) {
      return;
    }
    this.fault = fault;
    this.outages.away('Redis', fault);
    const restMs = Math.max(0, triedMs + RETRY_INTERVAL_MS - performance.now());
    this.retry = setTimeout(() => {
      const startMs = performance.now();
      this.open().catch((error: unknown) => this.openLater(error, startMs));
    }, restMs).unref();
  }

  private watchNodes(cluster: Cluster): void {
    const nameOf = (address: string) => `The node ${address} of the Redis Cluster`;
    cluster.on('node error', (error: unknown, address: string) => this.outages.away(nameOf(address), error));
    cluster.on('+node', (node: Redis) => {
      node.once('ready', () => this.outages.back(nameOf(`${node.options.host}:${node.options.port}`)));
    });
  }

  private refusal(): CounterStoreError {
    return new CounterStoreError('noConnection', unusable(this.fault));
  }
}

/** Sends all calls before any is answered; but none to a master that is not connected. */
function send(client: RedisClient, script: ScriptName, calls: readonly Call[]): Promise<unknown>[] {
  const isConnected = connectedKeys(client);
  const scripted = client as unknown as Scripted;
  return calls.map((call) =>
    isConnected(call[0]) ? scripted[script](...call) : Promise.reject(new NotConnectedError()),
  );
}

/** @throws DeadlineError when it did not come in time. */
function answerOf<Answer>(reply: Promise<Answer>): Promise<Answer> {
  return withinDeadline(reply, ANSWER_DEADLINE_MS);
}

/** Waits for each of these, but for none longer than the deadline. */
async function inTime(replies: Promise<unknown>[]): Promise<PromiseSettledResult<unknown>[]> {
  const deadline = answerOf(Promise.allSettled(replies));
  return Promise.allSettled(replies.map((reply) => Promise.race([reply, deadline.then(() => reply)])));
}

/** Has the next questions find what these calls did not, beside the way: a connection that answers, and every master. */
function lookAfter(client: RedisClient, outcomes: readonly PromiseSettledResult<unknown>[]): void {
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (reasons.some((reason) => reason instanceof DeadlineError)) {
    expectLife(client, ANSWER_DEADLINE_MS).catch(() => {});
  } else if (client instanceof Cluster && reasons.some((reason) => reason instanceof NotConnectedError)) {
    rediscover(client).catch(() => {});
  }
}

/** Null where the key has something else than counts, of which the questions about its subject tell. */
async function unlessSpoilt(value: Promise<string | null>): Promise<string | null> {
  try {
    return await value;
  } catch (error) {
    if (explain(error, false).kind === 'wrongType') {
      return null;
    }
    throw error;
  }
}

/** The keys that match a pattern, as many at once as one step finds; one may come twice. */
async function* keysOf(master: Redis, pattern: string): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, found] = await answerOf(master.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT));
    yield found;
    cursor = next;
  } while (cursor !== '0');
}

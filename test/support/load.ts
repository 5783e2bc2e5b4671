import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, send } from './http.js';

/** What is asked for, each by clients of its own, so that one kind that waits holds up no other. */
const KINDS = ['read', 'orders', 'add', 'add-once'] as const;
export type Kind = (typeof KINDS)[number];

const CLIENTS_OF_A_KIND = 3;
/** Between an answer and the next request of a client. */
const REST_MS = 20;
/** Far more than any answer may take: who gives up here has met a hang. */
const PATIENCE_MS = 20_000;

/** A request, and what became of it. Times are those of `performance.now()`. */
export interface Seen {
  kind: Kind;
  sentMs: number;
  endedMs: number;
  /** Null where none came, as the connection broke off or the patience ended. */
  answer: Answer | null;
}

export const isServed = ({ answer }: Seen): boolean => answer !== null && answer.status < 300;

/** Clients that send one request after the other, on connections that are kept, whatever becomes of them. */
export class Load {
  readonly seen: Seen[] = [];
  /** The names of all animals whose creation was acknowledged, by identifier. */
  readonly acknowledged = new Map<number, string>();
  private isOver = false;
  private readonly clients: Promise<void>[];

  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {
    this.clients = KINDS.flatMap((kind) => Array.from({ length: CLIENTS_OF_A_KIND }, () => this.run(kind)));
  }

  /** Waits for the answers to all that was sent. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  private async run(kind: Kind): Promise<void> {
    let name = nameFor(kind);
    while (!this.isOver) {
      const answer = await this.ask(kind, name);
      // With an Idempotency-Key the same is tried again until it is acknowledged.
      if (kind === 'add' || answer?.status === 201) {
        name = nameFor(kind);
      }
      await pause(REST_MS);
    }
  }

  private async ask(kind: Kind, name: string): Promise<Answer | null> {
    const sentMs = performance.now();
    const answer = await this.send(kind, name).catch(() => null);
    this.seen.push({ kind, sentMs, endedMs: performance.now(), answer });
    if (answer?.status === 201) {
      this.acknowledged.set(answer.json.id, name);
    }
    return answer;
  }

  private send(kind: Kind, name: string): Promise<Answer> {
    const { url, key } = this;
    const patient = { key, patienceMs: PATIENCE_MS };
    if (kind === 'read' || kind === 'orders') {
      return send(`${url}/v1/${kind === 'read' ? 'pets' : 'store/orders'}?limit=5`, patient);
    }
    const headers = kind === 'add-once' ? { 'Idempotency-Key': name } : {};
    return send(`${url}/v1/pets`, { ...patient, method: 'POST', headers, body: { name, categoryId: 1 } });
  }
}

const nameFor = (kind: Kind) => `${kind}-${randomUUID()}`;

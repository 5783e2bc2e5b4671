import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpResponse, send } from './http.js';

/** The kinds of requests. Each has its own clients, so that a slow kind delays no other. */
const KINDS = ['read', 'orders', 'add', 'add-once'] as const;
export type Kind = (typeof KINDS)[number];

const CLIENTS_OF_A_KIND = 2;
/** Between a response and the client's next request. */
const REST_MS = 40;
/** Far longer than any response may take. */
const PATIENCE_MS = 20_000;

/** A request and its outcome, with times of `performance.now()`. */
export interface Seen {
  kind: Kind;
  sentMs: number;
  endedMs: number;
  /** Null if the connection closed or the request timed out. */
  response: HttpResponse | null;
}

export const isServed = ({ response }: Seen): boolean => response !== null && response.status < 300;

/** Clients that send one request after another on persistent connections, regardless of the responses. */
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

  /** Stops sending, and waits for the responses to all requests. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  private async run(kind: Kind): Promise<void> {
    let name = nameFor(kind);
    while (!this.isOver) {
      const response = await this.sendAndRecord(kind, name);
      // A creation with an Idempotency-Key is retried until it is acknowledged.
      if (kind === 'add' || response?.status === 201) {
        name = nameFor(kind);
      }
      await pause(REST_MS);
    }
  }

  private async sendAndRecord(kind: Kind, name: string): Promise<HttpResponse | null> {
    const sentMs = performance.now();
    const response = await this.send(kind, name).catch(() => null);
    this.seen.push({ kind, sentMs, endedMs: performance.now(), response });
    if (response?.status === 201) {
      this.acknowledged.set(response.json.id, name);
    }
    return response;
  }

  private send(kind: Kind, name: string): Promise<HttpResponse> {
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

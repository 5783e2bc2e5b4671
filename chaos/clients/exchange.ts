import { createHash } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { monotonicMs } from '../ledger.js';
import type { LimitHeaders, RecordFields, ReportedWindow, Request } from '../verifier/evidence.js';
import type { ClientKey, ReplicaAddress } from './messages.js';

/** A request that a client has decided to send. */
export interface PlannedRequest {
  method: string;
  path: string;
  /** Null: no credential. */
  key: (Pick<ClientKey, 'name' | 'secret'> & { quota: string | null }) | null;
  idempotencyKey: string | null;
  /** The body as text, so that integers keep all their digits. */
  body: string | null;
  /** What the body says, for the ledger. */
  record: RecordFields | null;
  /** When the client closes the connection, complete response or not; null: never. */
  abandonAfterMs: number | null;
  /** How long all but the first bytes of the body are held back; left out: not at all. */
  heldMs?: number;
}

/** What came back; everything but the times is null if no complete response came. */
export interface Outcome {
  /** When the request was sent whole. */
  sentMs: number;
  receivedMs: number | null;
  /** Known even if the body of the response was lost. */
  status: number | null;
  headers: LimitHeaders;
  body: string | null;
}

/** Longer than any response may take, once the request was sent whole. */
const RESPONSE_DEADLINE_MS = 10_000;
/** What is sent at once of a body that is held back. */
const FIRST_BYTES = 5;

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request. Returns null if it was not sent, because the replica does not listen.
 *
 * @param id is its `X-Request-Id`; by default the replica makes one.
 */
export function exchange(
  replica: Pick<ReplicaAddress, 'port'>,
  planned: PlannedRequest,
  id?: string,
): Promise<Outcome | null> {
  const { method, path, key, idempotencyKey, body, abandonAfterMs, heldMs } = planned;
  const headers = {
    ...(id !== undefined && { 'x-request-id': id }),
    ...(key !== null && { authorization: `Bearer ${key.secret}` }),
    ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
    ...(body !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  const lost: Outcome = { sentMs: monotonicMs(), receivedMs: null, status: null, headers: {}, body: null };
  return new Promise((resolve) => {
    const outgoing = request({ agent, host: '127.0.0.1', port: replica.port, method, path, headers });
    const timer = setTimeout(
      () => outgoing.destroy(),
      abandonAfterMs ?? RESPONSE_DEADLINE_MS + (heldMs ?? 0),
    );
    outgoing.on('response', (response) => {
      const known = { ...lost, status: response.statusCode ?? null, headers: readHeaders(response) };
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('close', () => {
        clearTimeout(timer);
        const whole = { ...known, receivedMs: monotonicMs(), body: Buffer.concat(chunks).toString() };
        resolve(response.complete ? whole : known);
      });
      response.on('error', () => {}); // 'close' follows.
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      resolve(error.code === 'ECONNREFUSED' ? null : lost);
    });
    if (heldMs === undefined || body === null) {
      outgoing.end(body ?? undefined);
      return;
    }
    outgoing.write(body.slice(0, FIRST_BYTES));
    setTimeout(() => {
      lost.sentMs = monotonicMs();
      outgoing.end(body.slice(FIRST_BYTES));
    }, heldMs);
  });
}

/** Returns the line of the ledger for a request and its outcome. */
export function requestLine(
  { id, replica }: Pick<Request, 'id' | 'replica'>,
  { key, method, path, idempotencyKey, record, heldMs }: PlannedRequest,
  { sentMs, receivedMs, status, headers, body }: Outcome,
): Request {
  return {
    kind: 'request',
    id,
    sentMs,
    ...(heldMs !== undefined && { heldMs }),
    receivedMs,
    replica,
    key: key?.name ?? null,
    quota: key?.quota ?? null,
    method,
    path,
    idempotencyKey,
    request: record,
    status,
    code:
      body !== null && status !== null && status >= 400 ? (/"code":"(\w+)"/.exec(body)?.[1] ?? null) : null,
    headers,
    digest: body === null ? null : sha256(body),
    recordId: body !== null && status === 201 ? (/"id":(\d+)/.exec(body)?.[1] ?? null) : null,
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const isTrue = (text: string) => (text === 'true' ? true : undefined);
/** The names in the ledger, and the values, of headers. */
const READERS = {
  'x-ratelimit-limit': ['limit', Number],
  'x-ratelimit-remaining': ['remaining', Number],
  'x-ratelimit-reset': ['reset', Number],
  'retry-after': ['retryAfter', Number],
  'x-ratelimit-degraded': ['degraded', isTrue],
  'idempotent-replayed': ['replayed', isTrue],
  location: ['location', String],
} as const;

function readHeaders({ headers }: IncomingMessage): LimitHeaders {
  const read: LimitHeaders = Object.fromEntries(
    Object.entries(READERS).flatMap(([header, [name, convert]]) =>
      headers[header] === undefined ? [] : [[name, convert(String(headers[header]))]],
    ),
  );
  // The IETF form: `"minute";q=60;w=60, "day";q=1000;w=86400` and `"minute";r=59;t=31, "day";r=959;t=52310`.
  for (const header of ['ratelimit-policy', 'ratelimit']) {
    for (const [, name, parameters = ''] of String(headers[header] ?? '').matchAll(
      /"(\w+)"((?:;\w=\d+)+)/g,
    )) {
      for (const [, parameter, value] of parameters.matchAll(/;([qwrt])=(\d+)/g)) {
        const window = (read[name as 'minute' | 'day'] ??= {} as ReportedWindow);
        window[parameter as keyof ReportedWindow] = Number(value);
      }
    }
  }
  return read;
}

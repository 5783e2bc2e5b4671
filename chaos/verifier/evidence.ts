import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * One window of a response's `RateLimit` headers: its limit and length in seconds, the requests remaining,
 * the seconds until it ends.
 */
export interface ReportedWindow {
  q: number;
  w: number;
  r: number;
  t: number;
}

/** The headers of a response that are checked; missing headers are left out. */
export interface LimitHeaders {
  limit?: number;
  remaining?: number;
  reset?: number;
  retryAfter?: number;
  location?: string;
  minute?: ReportedWindow;
  day?: ReportedWindow;
  degraded?: true;
  replayed?: true;
}

/** A request, and its response if one came whole. See ledger.md. */
export interface Request {
  kind: 'request';
  id: string;
  sentMs: number;
  heldMs?: number;
  receivedMs: number | null;
  replica: string;
  key: string | null;
  quota: string | null;
  method: string;
  path: string;
  idempotencyKey: string | null;
  /** What the body says, so the record that it creates. */
  request: RecordFields | null;
  status: number | null;
  code: string | null;
  headers: LimitHeaders;
  digest: string | null;
  recordId: string | null;
}

/** What an administrator, or a holder, did to a key. */
export interface Change {
  kind: 'change';
  sentMs: number;
  receivedMs: number | null;
  change: 'issue' | 'addKey' | 'rotate' | 'revoke' | 'suspend' | 'resume' | 'restrict' | 'plan' | 'liftBan';
  key: string;
  quota: string;
  perMinute: number;
  perDay: number;
  endsAt: string | null;
  /** What the key may do after a `restrict`; null for everything. */
  scopes?: string[] | null;
  status: number | null;
}

export interface Fault {
  kind: 'fault';
  startMs: number;
  causedMs: number | null;
  endMs: number | null;
  fault: string;
  target: string;
  /** For `link-slow` and `link-loss`, how long data is held; for `clock-skew`, how far the clock is ahead. */
  byMs?: number;
  /** For `replica-replace`, what it runs from then on. */
  version?: string;
}

export type RecordFields = Record<string, string | number | boolean | null>;

/** All that a run left behind. */
export interface Evidence {
  run: {
    store: string;
    /** In seconds. */
    banDurations: number[];
    /** One reading of both clocks. */
    clock: { nowMs: number; monotonicMs: number };
  };
  requests: Request[];
  changes: Change[];
  faults: Fault[];
  pets: RecordFields[];
  orders: RecordFields[];
  keys: RecordFields[];
  storedResponses: RecordFields[];
  failedRequests: RecordFields[];
}

/** The evidence cannot be read. Its message names the file and the line. */
export class EvidenceError extends Error {}

/** The fields that a line must have, by their types; those of `?` may be null. */
const FIELDS: Record<string, Record<string, string>> = {
  request: {
    string: 'id replica method path',
    'string?': 'key quota idempotencyKey code digest recordId',
    number: 'sentMs',
    'number?': 'receivedMs status',
    object: 'headers',
  },
  change: {
    string: 'change key quota',
    number: 'sentMs perMinute perDay',
    'number?': 'receivedMs status',
  },
  fault: { number: 'startMs', 'number?': 'causedMs endMs', string: 'fault target' },
};

/**
 * Reads the folder of a run.
 *
 * @throws EvidenceError if a file or a line of it is not as ledger.md describes.
 */
export function readEvidence(folder: string): Evidence {
  const run = path.join(folder, 'run.json');
  if (!existsSync(run)) {
    throw new EvidenceError(`${folder} is not the folder of a run: it has no run.json`);
  }
  const lines = readdirSync(path.join(folder, 'ledger'))
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readLines(path.join(folder, 'ledger', name), checkLine));
  const ofKind = <Kind>(kind: string) => lines.filter((line) => line['kind'] === kind) as Kind[];
  const table = (name: string) => readLines(path.join(folder, 'tables', `${name}.jsonl`)) as RecordFields[];
  return {
    run: JSON.parse(readFileSync(run, 'utf8')) as Evidence['run'],
    requests: ofKind<Request>('request'),
    changes: ofKind<Change>('change'),
    faults: ofKind<Fault>('fault'),
    pets: table('pets'),
    orders: table('orders'),
    keys: table('keys'),
    storedResponses: table('stored_responses'),
    failedRequests: table('failed_requests'),
  };
}

type Line = Record<string, unknown>;

function readLines(file: string, check = (_line: Line): string | null => null): Line[] {
  // A long run writes more than fits into one string (half a gigabyte).
  const bytes = readFileSync(file);
  const lines: Line[] = [];
  for (let start = 0, number = 1; start < bytes.length; number += 1) {
    const newline = bytes.indexOf('\n', start);
    if (newline === -1) {
      break; // A process that was killed may leave half a line at the end.
    }
    const text = bytes.toString('utf8', start, newline);
    start = newline + 1;
    const line = parse(text);
    const problem = line === null ? 'is not a JSON object' : check(line);
    if (problem !== null) {
      throw new EvidenceError(`${file}:${number} ${problem}`);
    }
    lines.push(line as Line);
  }
  return lines;
}

function parse(text: string): Line | null {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null && !Array.isArray(line) ? (line as Line) : null;
  } catch {
    return null;
  }
}

/** Returns what is wrong with a line of the ledger, or null. */
function checkLine(line: Line): string | null {
  const fields = FIELDS[String(line['kind'])];
  if (fields === undefined) {
    return 'has no known kind';
  }
  for (const [type, names] of Object.entries(fields)) {
    const isValid = (value: unknown) =>
      value === null ? type.endsWith('?') : typeof value === type.replace('?', '');
    const wrong = names.split(' ').find((name) => !isValid(line[name]));
    if (wrong !== undefined) {
      return `has no valid ${wrong}`;
    }
  }
  return null;
}

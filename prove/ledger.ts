import { createWriteStream, mkdirSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import path from 'node:path';

/** The folder of a run, see ledger.md. */
export const OUT = path.join(import.meta.dirname, 'out');

interface Window {
  /** The limit, the requests remaining, and the seconds until the window ends. */
  q?: number;
  r?: number;
  t?: number;
}

/** The headers of a response that the verifier reads; those that did not come are left out. */
export interface LimitHeaders {
  limit?: number;
  remaining?: number;
  reset?: number;
  minute?: Window;
  day?: Window;
  retryAfter?: number;
  degraded?: true;
  replayed?: true;
  location?: string;
}

export interface RequestLine {
  kind: 'request';
  id: string;
  sentMs: number;
  receivedMs: number | null;
  replica: string;
  key: string | null;
  quota: string | null;
  method: string;
  path: string;
  idempotencyKey: string | null;
  requestDigest: string | null;
  request: Record<string, unknown> | null;
  status: number | null;
  code: string | null;
  headers: LimitHeaders;
  digest: string | null;
  recordId: string | null;
}

export interface ChangeLine {
  kind: 'change';
  sentMs: number;
  receivedMs: number | null;
  change: 'issue' | 'rotate' | 'revoke' | 'plan' | 'liftBan';
  key: string;
  quota: string;
  perMinute: number;
  perDay: number;
  successor: string | null;
  endsAt: string | null;
  status: number | null;
}

export interface FaultLine {
  kind: 'fault';
  startMs: number;
  causedMs: number | null;
  endMs: number | null;
  fault: string;
  target: string;
}

/** Returns the milliseconds of the system's monotonic clock, which all processes share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

/** Writes lines of JSON into one file of the ledger. */
export class Ledger<Line extends RequestLine | ChangeLine | FaultLine> {
  private readonly file;

  constructor(name: string) {
    const folder = path.join(OUT, 'ledger');
    mkdirSync(folder, { recursive: true });
    this.file = createWriteStream(path.join(folder, `${name}.jsonl`), { highWaterMark: 2 ** 20 });
  }

  write(line: Line): void {
    this.file.write(`${JSON.stringify(line)}\n`);
  }

  async close(): Promise<void> {
    this.file.end();
    await finished(this.file);
  }
}

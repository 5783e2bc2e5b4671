import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { finished } from 'node:stream/promises';
import path from 'node:path';
import { Refusal } from '../dev/refusal.js';
import type { Change, Fault, Request } from './verifier/evidence.js';

/** The folder of a run, see ledger.md. */
export const OUT = path.join(import.meta.dirname, 'out');

/**
 * Claims the folder of a run for as long as a process has the socket that it returns, which has the folder's
 * name (unix(7), "Abstract sockets").
 *
 * @throws Refusal if another run of this checkout has it.
 */
export async function claimFolder(): Promise<Server> {
  const name = createHash('sha256').update(OUT).digest('hex');
  const claim = createServer().listen(`\0animal-store-chaos-${name}`).unref();
  await once(claim, 'listening').catch((error: unknown) => {
    throw new Refusal(`Another run writes ${OUT}: wait for its end, or use another checkout`, {
      cause: error,
    });
  });
  return claim;
}

/** Returns the milliseconds of the system's monotonic clock, which all processes share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

/** Lines are written together up to this length: a write costs more than a line. */
const TOGETHER = 2 ** 16;

/** Writes lines of JSON into one file of the ledger. */
export class Ledger<Line extends Request | Change | Fault> {
  private readonly file;
  private unwritten = '';

  constructor(name: string) {
    const folder = path.join(OUT, 'ledger');
    mkdirSync(folder, { recursive: true });
    this.file = createWriteStream(path.join(folder, `${name}.jsonl`));
  }

  write(line: Line): void {
    this.unwritten += `${JSON.stringify(line)}\n`;
    if (this.unwritten.length >= TOGETHER) {
      this.file.write(this.unwritten);
      this.unwritten = '';
    }
  }

  async close(): Promise<void> {
    this.file.end(this.unwritten);
    await finished(this.file);
  }
}

import { closeSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Text is gathered until it has this many characters, or is this old: a write costs more than a line. */
const GATHERED_LENGTH = 32 * 1024;
const GATHERED_MS = 100;
/** The characters that are kept while nothing can be written: about 2,000 requests. */
const MAX_LENGTH = 1024 * 1024;
/** The time until the next attempt doubles each time: a reader that is only late soon has space again. */
const RETRY_MS = { first: 1, last: 64 };
/** A write that takes longer hangs: its disk does, or another process made the descriptor block again. */
const HUNG_MS = 1000;
/** The time between two looks at what is still unwritten. */
const DRAIN_MS = 10;

/** What Node's streams have, undocumented, if they are a pipe, a socket or a terminal. */
interface WithHandle {
  _handle?: { setBlocking?: (isBlocking: boolean) => void };
}

/**
 * Standard output or standard error. Writing never waits and never throws: text that cannot be written now is
 * kept, and beyond a bound it is dropped and counted.
 */
export class StandardStream {
  /** The number of texts dropped since the start. */
  dropped = 0;
  /** Receives the number of texts dropped, once everything before them is written. */
  onRecovery: (dropped: number) => void = () => {};
  private unreported = 0;
  private gathered = '';
  /** The bytes that are being written, or that the next attempt writes. */
  private unwritten = Buffer.alloc(0);
  private isWriting = false;
  private writeStartMs = 0;
  private retryMs = RETRY_MS.first;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly fd: number) {
    process.once('exit', () => this.writeLast());
  }

  /** Writes a text whole or not at all. */
  write(text: string): void {
    // After one is dropped, so are all until the rest is written: there is one gap, and one report of it.
    if (this.unreported > 0 || (this.length > 0 && this.length + text.length > MAX_LENGTH)) {
      this.dropped += 1;
      this.unreported += 1;
      return;
    }
    this.gathered += text;
    if (this.unwritten.length === 0) {
      this.writeSoon();
    }
  }

  async drain(maxMs: number): Promise<void> {
    const endMs = performance.now() + maxMs;
    while (this.length > 0 && performance.now() < endMs) {
      this.writeNow();
      await new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
    }
  }

  /** Whether a write hangs. Node's exit then waits for its thread, perhaps forever. */
  get hangs(): boolean {
    return this.isWriting && performance.now() - this.writeStartMs > HUNG_MS;
  }

  private get length(): number {
    return this.gathered.length + this.unwritten.length;
  }

  private writeSoon(): void {
    if (this.gathered.length >= GATHERED_LENGTH) {
      this.writeNow();
    } else {
      this.writeIn(GATHERED_MS);
    }
  }

  private writeIn(ms: number): void {
    this.timer ??= setTimeout(() => this.writeNow(), ms).unref();
  }

  private writeNow(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isWriting) {
      return;
    }
    if (this.unwritten.length === 0) {
      this.unwritten = Buffer.from(this.gathered);
      this.gathered = '';
    }
    this.isWriting = true;
    this.writeStartMs = performance.now();
    // In another thread, because a disk may hang.
    write(this.fd, this.unwritten, (error, written) => {
      this.isWriting = false;
      if (error !== null) {
        this.writeIn(this.retryMs);
        this.retryMs = Math.min(2 * this.retryMs, RETRY_MS.last);
        return;
      }
      this.retryMs = RETRY_MS.first;
      this.unwritten = this.unwritten.subarray(written);
      if (this.unwritten.length > 0) {
        this.writeNow();
      } else if (this.gathered.length > 0) {
        this.writeSoon();
      } else if (this.unreported > 0) {
        const dropped = this.unreported;
        this.unreported = 0;
        this.onRecovery(dropped);
      }
    });
  }

  /** Makes a last attempt when the process exits. A write in another thread still ends by itself. */
  private writeLast(): void {
    if (this.hangs) {
      return;
    }
    const unwritten = this.isWriting ? [] : [this.unwritten];
    let rest = Buffer.concat([...unwritten, Buffer.from(this.gathered)]);
    try {
      while (rest.length > 0) {
        rest = rest.subarray(writeSync(this.fd, rest));
      }
    } catch {
      // Nobody is left to whom it could be reported.
    }
  }
}

export const standardOutput = new StandardStream(1);
export const standardError = new StandardStream(2);

/**
 * Makes a write to a pipe, a socket or a terminal that nobody reads fail immediately instead of waiting. What
 * Node and libraries write by themselves, such as warnings, is then lost, and does not end the process.
 */
export function unblockStandardStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    // Node makes writes to a terminal wait, so Ctrl-S or a hung window would stop the service.
    (stream as WithHandle)._handle?.setBlocking?.(false);
    stream.on('error', () => {});
  }
  const terminals = [0, 1, 2].filter(isatty);
  // Node aborts if it cannot reset a terminal at the end, because it was closed.
  process.once('exit', () => terminals.filter((fd) => !isatty(fd)).forEach((fd) => closeSync(fd)));
}

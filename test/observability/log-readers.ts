import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A pipe whose reader does not read yet. */
export class StalledPipe {
  /** What has been read. */
  text = '';
  /** The end that a process writes to. */
  readonly input: number;
  private readonly output: Socket;

  constructor() {
    const folder = mkdtempSync(path.join(tmpdir(), 'animal-store-pipe-'));
    const file = path.join(folder, 'pipe');
    execFileSync('mkfifo', [file]);
    this.output = new Socket({ fd: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK) });
    this.input = openSync(file, constants.O_WRONLY);
    rmSync(folder, { recursive: true });
  }

  /** Reads from now on, until all writers have ended. */
  read(): void {
    this.output.setEncoding('utf8').on('data', (text: string) => (this.text += text));
  }

  /** Ends its reader. */
  breakOff(): void {
    this.output.destroy();
  }

  close(): void {
    this.output.destroy();
    closeSync(this.input);
  }
}

import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { reportMissing } from './programs.js';

const BALLAST = 'ballast';
const execute = promisify(execFile);

/** Returns whether a file system may be mounted here. If not, tests are skipped; in CI they fail. */
export function hasVolumes(): boolean {
  const folder = mkdtempSync(path.join(tmpdir(), 'volume-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'pipe' });
    execFileSync('umount', [folder]);
    return true;
  } catch {
    reportMissing('the right to mount a file system');
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A small disk, writable by everybody. */
export class Volume {
  private constructor(readonly folder: string) {}

  static async mount(megabytes: number): Promise<Volume> {
    const folder = await mkdtemp(path.join(tmpdir(), 'volume-'));
    await execute('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'tmpfs', folder]);
    return new Volume(folder);
  }

  /** Writes until the disk is full. */
  async fill(): Promise<void> {
    const written = execute('dd', ['if=/dev/zero', `of=${path.join(this.folder, BALLAST)}`, 'bs=4k']);
    await expect(written).rejects.toThrow('No space left on device');
  }

  /** Frees the disk. */
  async clear(): Promise<void> {
    await rm(path.join(this.folder, BALLAST), { force: true });
  }

  async remove(): Promise<void> {
    await execute('umount', [this.folder]);
    await rm(this.folder, { recursive: true });
  }
}

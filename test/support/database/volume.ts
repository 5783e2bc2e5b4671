import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const BALLAST = 'ballast';

/** Returns whether a file system may be mounted here. If not, its tests are skipped with a message; in CI they fail. */
export function hasVolumes(): boolean {
  const folder = mkdtempSync(path.join(tmpdir(), 'volume-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'pipe' });
    execFileSync('umount', [folder]);
    return true;
  } catch (error) {
    if (process.env['CI'] !== undefined) {
      throw new Error('No file system may be mounted, so no disk can be full: run the tests as root', {
        cause: error,
      });
    }
    process.stderr.write(
      'Skipped what needs a full disk: no file system may be mounted here (run as root).\n',
    );
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
    const ballast = await open(path.join(this.folder, BALLAST), 'w');
    try {
      for (const size of [1024 * 1024, 4096, 1]) {
        await writeWhileRoom(ballast, Buffer.alloc(size));
      }
    } finally {
      await ballast.close();
    }
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

async function writeWhileRoom(file: Awaited<ReturnType<typeof open>>, bytes: Buffer): Promise<void> {
  for (;;) {
    try {
      await file.write(bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') {
        return;
      }
      throw error;
    }
  }
}

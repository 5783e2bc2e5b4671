import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { recordRelease } from '../../dev/release/record.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'animal-store-releases-'));
  await recordRelease({ version: '1.10.0', date: '2026-12-05', commit: 'c0ffee' }, folder);
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs `npm run check:compatibility` with the releases of a folder. */
function check(releases: string): Promise<{ code: number; stdout: string }> {
  const args = ['node_modules/jiti/lib/jiti-cli.mjs', 'dev/release/check.ts', releases];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout) => resolve({ code: Number(error?.code ?? 0), stdout }));
  });
}

describe('npm run check:compatibility', () => {
  it('fails without the record of any release', async () => {
    expect(await check(path.join(folder, 'missing'))).toMatchObject({ code: 1, stdout: '' });
  });

  it('passes for a tree that is as it was recorded', async () => {
    expect(await check(folder)).toEqual({ code: 0, stdout: '' });
  });
});

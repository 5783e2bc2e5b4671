import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildRelease, findRelease, keepBuild } from '../../dev/release/build.js';

const ABSENT = '0123456789abcdef0123456789abcdef01234567';

describe('findRelease', () => {
  it('returns the commit of a git revision', async () => {
    expect(await findRelease('HEAD')).toEqual({
      version: 'HEAD',
      commit: expect.stringMatching(/^[\da-f]{40}$/),
    });
  });

  it.each(['99.0.0', 'no-such-branch', '--all'])('refuses %s, which is neither', async (name) => {
    await expect(findRelease(name)).rejects.toThrow(
      `"${name}" is neither a version below releases/ nor a git revision of this clone`,
    );
  });
});

describe('buildRelease', () => {
  it('says how a shallow clone gets the commit that it lacks', async () => {
    await expect(buildRelease({ version: '1.0.0', commit: ABSENT })).rejects.toThrow(
      `This clone lacks commit ${ABSENT} of 1.0.0: git fetch --unshallow`,
    );
  });
});

describe('keepBuild', () => {
  let folder: string;
  const at = (...names: string[]) => path.join(folder, ...names);
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'animal-store-builds-'));
    for (const name of ['tree/dist', 'tree/console/dist', 'tree/prisma']) {
      mkdirSync(at(name), { recursive: true });
    }
    writeFileSync(at('tree/package.json'), '{}');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('leaves a build that another process has kept meanwhile', () => {
    keepBuild(at('tree'), at('builds/c0ffee'));
    writeFileSync(at('tree/package.json'), '{"other":1}');
    keepBuild(at('tree'), at('builds/c0ffee'));
    expect(readdirSync(at('builds'))).toEqual(['c0ffee']);
    expect(readFileSync(at('builds/c0ffee/package.json'), 'utf8')).toBe('{}');
  });

  it('leaves nothing of a build that it cannot copy', () => {
    rmSync(at('tree/prisma'), { recursive: true });
    expect(() => keepBuild(at('tree'), at('builds/c0ffee'))).toThrow('prisma');
    expect(readdirSync(at('builds'))).toEqual([]);
  });
});

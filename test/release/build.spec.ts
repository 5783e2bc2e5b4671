import { buildRelease, findRelease } from '../../dev/release/build.js';

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

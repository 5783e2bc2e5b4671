import { SessionHolds } from './session-holds';

/** Returns holds, and the reasons for which the session has ended. */
function start() {
  const ends: string[] = [];
  return { holds: new SessionHolds((reason) => ends.push(reason)), ends };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('SessionHolds', () => {
  it('ends a session at once that nothing holds', () => {
    const { holds, ends } = start();
    holds.endOrWait('revoked');
    expect(ends).toEqual(['revoked']);
  });

  it('ends a session with its last hold, once', async () => {
    const { holds, ends } = start();
    const releases = [holds.hold(), holds.hold()];
    holds.endOrWait('revoked');
    releases[0]?.();
    await nextTurn();
    expect(ends).toEqual([]);
    releases[1]?.();
    await nextTurn();
    expect(ends).toEqual(['revoked']);
  });

  it('keeps a session whose last hold is replaced at once', async () => {
    const { holds, ends } = start();
    const release = holds.hold();
    holds.endOrWait('revoked');
    release();
    const releaseOther = holds.hold();
    await nextTurn();
    expect(ends).toEqual([]);
    releaseOther();
    await nextTurn();
    expect(ends).toEqual(['revoked']);
  });

  it('keeps a session whose end was forgotten', async () => {
    const { holds, ends } = start();
    const release = holds.hold();
    holds.endOrWait('revoked');
    holds.forgetEnd();
    release();
    await nextTurn();
    expect(ends).toEqual([]);
  });
});

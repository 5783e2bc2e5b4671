import { keyState } from './key.view.js';

const nowMs = Date.UTC(2027, 2, 5, 12);
const past = new Date(nowMs);
const future = new Date(nowMs + 1);
const successor = { id: '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11' };
const key = { revokedAt: null, expiresAt: null, successor: null };

describe('keyState', () => {
  it('returns "active" for a key that has not expired', () => {
    expect(keyState(key, nowMs)).toBe('active');
    expect(keyState({ ...key, expiresAt: future }, nowMs)).toBe('active');
  });

  it('returns "rotating" for a rotated key until its overlap ends, and "expired" from then on', () => {
    expect(keyState({ ...key, successor, expiresAt: future }, nowMs)).toBe('rotating');
    expect(keyState({ ...key, successor, expiresAt: past }, nowMs)).toBe('expired');
  });

  it('returns "revoked" for a revoked key, even if it was rotated or has expired', () => {
    expect(keyState({ ...key, revokedAt: past }, nowMs)).toBe('revoked');
    expect(keyState({ successor, revokedAt: past, expiresAt: past }, nowMs)).toBe('revoked');
  });
});

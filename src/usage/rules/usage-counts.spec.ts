import { type CompletedRequest, UsageCounts } from './usage-counts.js';

const NOON_MS = Date.UTC(2027, 2, 5, 12);

function request(facts: Partial<CompletedRequest> = {}): CompletedRequest {
  return {
    keyId: 'a',
    quotaId: 'quota of a',
    operation: 'listPets',
    deprecated: false,
    status: 200,
    atMs: NOON_MS,
    ...facts,
  };
}

function countUsage(...requests: CompletedRequest[]): UsageCounts {
  const counts = new UsageCounts(100);
  for (const each of requests) {
    expect(counts.add(each)).toBe(true);
  }
  return counts;
}

describe('UsageCounts', () => {
  it.each([
    [200, { succeeded: 1 }],
    [299, { succeeded: 1 }],
    [300, { redirected: 1 }],
    [400, { clientErrors: 1 }],
    [429, { clientErrors: 1, denied: 1 }],
    [499, { clientErrors: 1 }],
    [500, { serverErrors: 1 }],
  ])('counts status %d by its class', (status, counts) => {
    expect(countUsage(request({ status })).entries).toEqual([
      {
        keyId: 'a',
        quotaId: 'quota of a',
        minute: NOON_MS / 60_000,
        operation: 'listPets',
        deprecated: false,
        succeeded: 0,
        redirected: 0,
        clientErrors: 0,
        serverErrors: 0,
        denied: 0,
        lastRequestAtMs: NOON_MS,
        ...counts,
      },
    ]);
  });

  it('groups requests by key, operation and minute', () => {
    const { entries } = countUsage(
      request(),
      request({ keyId: 'b' }),
      request({ operation: 'getPet', deprecated: true }),
      request({ atMs: NOON_MS - 1 }),
      request({ atMs: NOON_MS + 59_999.9 }),
      request({ atMs: NOON_MS + 60_000 }),
      request({ status: 404 }),
    );
    expect(
      entries.map(({ keyId, operation, deprecated, minute, succeeded, clientErrors }) =>
        [keyId, operation, deprecated, minute - NOON_MS / 60_000, succeeded, clientErrors].join(' '),
      ),
    ).toEqual([
      'a listPets false 0 2 1',
      'b listPets false 0 1 0',
      'a getPet true 0 1 0',
      'a listPets false -1 1 0',
      'a listPets false 1 1 0',
    ]);
  });

  it('keeps the latest time, in whatever order the requests finish', () => {
    const { entries } = countUsage(request({ atMs: NOON_MS + 6.6 }), request({ atMs: NOON_MS + 2 }));
    expect(entries).toMatchObject([{ succeeded: 2, lastRequestAtMs: NOON_MS + 7 }]);
  });

  it('still adds to its entries when it is full, and accepts no other', () => {
    const counts = new UsageCounts(1);
    expect(counts.add(request())).toBe(true);
    expect(counts.add(request({ keyId: 'b' }))).toBe(false);
    expect(counts.add(request({ operation: 'createPet' }))).toBe(false);
    expect(counts.add(request({ atMs: NOON_MS + 60_000 }))).toBe(false);
    expect(counts.add(request())).toBe(true);
    expect(counts.entries).toMatchObject([{ keyId: 'a', succeeded: 2 }]);
    expect(counts.requests).toBe(2);
  });

  it('accepts no request once it is sealed', () => {
    const counts = countUsage(request());
    counts.isSealed = true;
    expect(counts.add(request())).toBe(false);
    expect(counts.requests).toBe(1);
  });
});

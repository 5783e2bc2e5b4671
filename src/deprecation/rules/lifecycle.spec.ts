import { deprecationLinks, lifecycleError, lifecycleHeaders } from './lifecycle.js';

const REMOVAL_MS = Date.parse('2030-12-05T00:00:00Z');
const DEPRECATION = {
  since: new Date('2025-12-05T00:00:00Z'),
  removal: new Date(REMOVAL_MS),
  successors: ['/v1/pets?id={petId}', '/v1/pets?status=available'],
  docs: '/docs#/pets/getPet',
};

const SERVICE = { offersExperimental: false, publicPrefix: '' };
const EXPERIMENTAL_SERVICE = { ...SERVICE, offersExperimental: true };

const errorAt = (nowMs: number, method = 'GET') =>
  lifecycleError({ deprecation: DEPRECATION }, { method }, nowMs, SERVICE);

describe('lifecycleError', () => {
  const removed = (method: string) => ({
    code: 'endpoint_removed',
    message: `This operation was removed on 2030-12-05. Use ${method} /v1/pets?status=available instead.`,
    status: 410,
  });

  it('returns null until the last millisecond before the removal', () => {
    expect(errorAt(REMOVAL_MS - 1)).toBeNull();
  });

  it.each([
    [0, 'GET', 'GET'],
    [1, 'HEAD', 'GET'],
    [1e12, 'POST', 'POST'],
  ])(
    'returns 410 from the time of the removal, with the method of the successor: %d ms after, %s names %s',
    (afterMs, method, named) => {
      expect(errorAt(REMOVAL_MS + afterMs, method)?.body).toEqual(removed(named));
    },
  );

  it('returns 410 with all successors, the nearest first, for a request with the parameter of one', () => {
    const request = { method: 'GET', parameters: { petId: '7' } };
    expect(lifecycleError({ deprecation: DEPRECATION }, request, REMOVAL_MS, SERVICE)?.message).toBe(
      'This operation was removed on 2030-12-05. Use GET /v1/pets?id=7 or ' +
        'GET /v1/pets?status=available instead.',
    );
  });

  it.each(['stable', 'beta'] as const)(
    'returns null for a %s operation, whether experimental ones are offered or not',
    (stability) => {
      expect(lifecycleError({ stability }, { method: 'GET' }, REMOVAL_MS, SERVICE)).toBeNull();
      expect(lifecycleError({ stability }, { method: 'GET' }, REMOVAL_MS, EXPERIMENTAL_SERVICE)).toBeNull();
    },
  );

  it('returns 404 for an experimental operation, unless experimental ones are offered', () => {
    expect(
      lifecycleError({ stability: 'experimental' }, { method: 'GET' }, REMOVAL_MS, EXPERIMENTAL_SERVICE),
    ).toBeNull();
    expect(
      lifecycleError({ stability: 'experimental' }, { method: 'GET' }, REMOVAL_MS, SERVICE)?.body,
    ).toEqual({
      code: 'not_found',
      message: 'This operation is experimental, and not offered in this environment.',
      status: 404,
    });
  });

  it('returns 404 rather than 410 for an operation that is not offered', () => {
    const lifecycle = { stability: 'experimental', deprecation: DEPRECATION } as const;
    expect(lifecycleError(lifecycle, { method: 'GET' }, REMOVAL_MS, EXPERIMENTAL_SERVICE)?.code).toBe(
      'endpoint_removed',
    );
    expect(lifecycleError(lifecycle, { method: 'GET' }, REMOVAL_MS, SERVICE)?.code).toBe('not_found');
  });
});

describe('lifecycleHeaders', () => {
  it('returns the dates of a deprecation', () => {
    expect(lifecycleHeaders({ deprecation: DEPRECATION })).toEqual({
      Deprecation: '@1764892800',
      Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    });
  });

  it('returns whole seconds: Deprecation by RFC 9745 and Sunset by RFC 8594', () => {
    const headers = lifecycleHeaders({
      deprecation: {
        ...DEPRECATION,
        since: new Date('2024-02-29T23:59:59.999Z'),
        removal: new Date('2031-01-02T03:04:05.678Z'),
      },
    });
    expect(headers['Deprecation']).toBe('@1709251199');
    expect(headers['Sunset']).toBe('Thu, 02 Jan 2031 03:04:05 GMT');
  });

  it('returns none for a stable operation that is not deprecated', () => {
    expect(lifecycleHeaders({})).toEqual({});
    expect(lifecycleHeaders({ stability: 'stable' })).toEqual({});
  });

  it('returns the stability of an operation that is not stable, beside its deprecation', () => {
    expect(lifecycleHeaders({ stability: 'beta' })).toEqual({ 'X-Stability': 'beta' });
    expect(lifecycleHeaders({ stability: 'experimental', deprecation: DEPRECATION })).toEqual({
      'X-Stability': 'experimental',
      ...lifecycleHeaders({ deprecation: DEPRECATION }),
    });
  });
});

describe('deprecationLinks', () => {
  const DOCS_LINKS =
    '</docs#/pets/getPet>; rel="deprecation"; type="text/html", ' +
    '</docs#/pets/getPet>; rel="sunset"; type="text/html"';

  it('returns the successors, the nearest first, and the documentation of deprecation and removal', () => {
    expect(deprecationLinks(DEPRECATION, { petId: '-7' })).toBe(
      '</v1/pets?id=-7>; rel="successor-version", </v1/pets?status=available>; rel="successor-version", ' +
        DOCS_LINKS,
    );
  });

  it.each([
    'rex',
    '',
    '7>; rel="x"',
    '9223372036854775808',
    '%zz',
    '7\r\nX: y',
    '7 ',
    '1e3',
    '9'.repeat(5000),
  ])('leaves out a successor whose parameter is no int64: %j', (petId) => {
    expect(deprecationLinks(DEPRECATION, { petId })).toBe(
      `</v1/pets?status=available>; rel="successor-version", ${DOCS_LINKS}`,
    );
  });

  it('writes the integer of a parameter in its shortest form', () => {
    expect(deprecationLinks(DEPRECATION, { petId: '0007' })).toMatch(/^<\/v1\/pets\?id=7>;/);
  });
});

import { type Operation, registryFaults } from './registry-faults.js';

const LIST: Operation = { name: 'listPets', method: 'GET', path: '/v1/pets', stability: 'stable' };
const DEPRECATION = {
  since: new Date('2025-12-05T00:00:00Z'),
  removal: new Date('2030-12-05T00:00:00Z'),
  replacement: '/v1/pets?status=available',
  docs: '/docs#/pets/getPet',
};

function deprecated(deprecation: Partial<typeof DEPRECATION> = {}): Operation {
  return {
    name: 'getPet',
    method: 'GET',
    path: '/v1/pets/:petId',
    stability: 'stable',
    deprecation: { ...DEPRECATION, ...deprecation },
  };
}

test('declarations that hold have no faults', () => {
  expect(registryFaults([LIST, deprecated()])).toEqual([]);
  expect(registryFaults([])).toEqual([]);
});

test.each<[string, Operation, string]>([
  ['no stability', { name: 'addPet', method: 'POST', path: '/v1/pets' }, 'addPet has no stability'],
  [
    'a removal before the deprecation',
    deprecated({ removal: new Date('2025-12-04T00:00:00Z') }),
    'getPet is removed before it is deprecated',
  ],
  [
    'a removal at the deprecation',
    deprecated({ removal: DEPRECATION.since }),
    'getPet is removed before it is deprecated',
  ],
  [
    'less than 12 months between',
    deprecated({ removal: new Date('2026-12-04T00:00:00Z') }),
    'getPet is removed less than 12 months after it is deprecated',
  ],
  [
    'less than a month between, where it is beta',
    { ...deprecated({ removal: new Date('2026-01-04T00:00:00Z') }), stability: 'beta' },
    'getPet is removed less than 1 month after it is deprecated',
  ],
  [
    'a removal before the deprecation, where it is experimental',
    { ...deprecated({ removal: new Date('2025-12-04T00:00:00Z') }), stability: 'experimental' },
    'getPet is removed before it is deprecated',
  ],
  [
    'a removal within a day',
    deprecated({ removal: new Date('2030-12-05T00:00:01Z') }),
    'getPet is removed within a day, not at 00:00 UTC',
  ],
  [
    'a replacement at a path that no operation has',
    deprecated({ replacement: '/v1/dogs' }),
    'getPet has a replacement that does not exist: GET /v1/dogs',
  ],
  [
    'a replacement that lacks its parameter',
    deprecated({ replacement: '/v1/pets/' }),
    'getPet has a replacement that does not exist: GET /v1/pets/',
  ],
  [
    'a replacement that is deprecated itself',
    deprecated({ replacement: '/v1/pets/7' }),
    'getPet has a replacement that is deprecated itself: GET /v1/pets/7',
  ],
])('%s is a fault', (_name, operation, fault) => {
  expect(registryFaults([LIST, operation])).toEqual([fault]);
});

test.each([
  ['stable', '12 months', '2026-12-05T00:00:00Z'],
  ['beta', 'a month', '2026-01-05T00:00:00Z'],
  ['experimental', 'a day', '2025-12-06T00:00:00Z'],
] as const)('what is %s has notice enough with %s', (stability, _notice, removal) => {
  const operation = { ...deprecated({ removal: new Date(removal) }), stability };
  expect(registryFaults([LIST, operation])).toEqual([]);
});

test('a replacement may be beta, and not experimental', () => {
  expect(registryFaults([{ ...LIST, stability: 'beta' }, deprecated()])).toEqual([]);
  expect(registryFaults([{ ...LIST, stability: 'experimental' }, deprecated()])).toEqual([
    'getPet has a replacement that is experimental: GET /v1/pets?status=available',
  ]);
});

test('a replacement is the operation that a request would meet, not another whose path would do', () => {
  const declared = deprecated({ replacement: '/v1/pets/newest' });
  const newest: Operation = { ...LIST, name: 'newestPets', path: '/v1/pets/newest' };
  expect(registryFaults([declared, newest])).toEqual([]);
});

test('what is deprecated is replaced by an operation of its own method', () => {
  const add = {
    ...deprecated({ replacement: '/v1/pets' }),
    name: 'addPet',
    method: 'POST',
    path: '/v1/animals',
  };
  expect(registryFaults([LIST, add])).toEqual([
    'addPet has a replacement that does not exist: POST /v1/pets',
  ]);
  const create: Operation = { ...LIST, name: 'createPet', method: 'POST' };
  expect(registryFaults([LIST, create, add])).toEqual([]);
});

test('a replacement of another method does not count', () => {
  expect(registryFaults([{ ...LIST, method: 'POST' }, deprecated()])).toEqual([
    'getPet has a replacement that does not exist: GET /v1/pets?status=available',
  ]);
});

test('all faults are told, each once, whatever methods an operation answers', () => {
  const { stability: _stability, ...vague } = deprecated({ replacement: '/v1/dogs' });
  expect(registryFaults([vague, { ...vague, method: 'HEAD' }])).toEqual([
    'getPet has no stability',
    'getPet has a replacement that does not exist: GET /v1/dogs',
  ]);
});

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
    deprecated({ removal: new Date('2025-12-04T23:59:59Z') }),
    'getPet is removed before it is deprecated',
  ],
  [
    'a removal at the deprecation',
    deprecated({ removal: DEPRECATION.since }),
    'getPet is removed before it is deprecated',
  ],
  [
    'less than 12 months between',
    deprecated({ removal: new Date('2026-12-04T23:59:59Z') }),
    'getPet is removed less than 12 months after it is deprecated',
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

test('12 months of notice are enough', () => {
  expect(registryFaults([LIST, deprecated({ removal: new Date('2026-12-05T00:00:00Z') })])).toEqual([]);
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

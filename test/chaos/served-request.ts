import type { Request } from '../../chaos/verifier/evidence.js';

/** What the requests of these tests have in common: a list that the service served. */
export const SERVED = {
  kind: 'request',
  replica: 'replica-1',
  key: 'k1',
  quota: 'q1',
  method: 'GET',
  path: '/v1/pets',
  idempotencyKey: null,
  request: null,
  status: 200,
  code: null,
  digest: 'd',
  recordId: null,
} as const satisfies Partial<Request>;

import type { send } from './http.js';

/**
 * Requests with a client's key: what for, the status of the response, the path below the service, and the
 * rest.
 */
export const REQUESTS: [
  what: string,
  status: number,
  path: string,
  init: NonNullable<Parameters<typeof send>[1]>,
][] = [
  ['a list', 200, '/v1/pets', {}],
  ['HEAD of a list', 200, '/v1/pets', { method: 'HEAD' }],
  ['an escaped path that is known', 200, '/%76%31/pets', {}],
  ['a created animal', 201, '/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
  ['an invalid query', 400, '/v1/pets?limit=0', {}],
  ['an invalid field', 400, '/v1/pets', { method: 'POST', body: { name: 'Rex' } }],
  ['malformed JSON', 400, '/v1/pets', { method: 'POST', body: '{"name":' }],
  ['administration, for a client', 403, '/admin/keys', {}],
  ['an unknown animal', 404, '/v1/pets/9223372036854775807', {}],
  ['an overlong id', 404, `/v1/pets/${'7'.repeat(300)}`, {}],
  ['an unknown path', 404, '/v1/nothing', {}],
  ['a path that cannot be decoded', 404, '/v1/%zz', {}],
  ['another method', 405, '/v1/pets', { method: 'DELETE' }],
  [
    'another content type',
    415,
    '/v1/pets',
    { method: 'POST', body: 'Rex', headers: { 'Content-Type': 'text/plain' } },
  ],
];

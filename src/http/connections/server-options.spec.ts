import type { IncomingMessage } from 'node:http';
import { requestId } from './server-options.js';

const createId = (given?: string) =>
  requestId({ headers: { 'x-request-id': given } } as unknown as IncomingMessage);

test.each(['a', 'x'.repeat(128), 'A-Z_a.z:0+9/=@'])(
  'requestId returns a valid id of the client: %s',
  (id) => {
    expect(createId(id)).toBe(id);
  },
);

test.each([undefined, '', 'x'.repeat(129), 'a b', 'a\nb', 'a\n', '\na', 'a\0', 'é', 'a"b', '<a>', 'a, b'])(
  'requestId returns a new id in place of %j',
  (id) => {
    expect(createId(id)).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(createId(id)).not.toBe(createId(id));
  },
);

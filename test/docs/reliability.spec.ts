import { readFileSync } from 'node:fs';
import { ApiDocument } from '../support/http/document.js';

const { creations } = new ApiDocument();

describe('what is said of an Idempotency-Key', () => {
  it.each([
    ['docs/reliability.md', 'If the operation takes an `Idempotency-Key`, repeat it with the same one'],
    ['docs/running.md', 'repeat a `POST` that takes an `Idempotency-Key`'],
    [
      'docs/openapi.json',
      'Send operations that take an `Idempotency-Key`, such as `POST /v1/pets`, with a new one.',
    ],
  ])('is said of the operations that take one, in %s', (file, text) => {
    expect(readFileSync(file, 'utf8').replaceAll('\\n', ' ')).toContain(text);
  });

  it('holds for each: the stored response, 409 while the first is in flight, 422 for another request', () => {
    expect(creations.map(({ path }) => path)).toContain('/v1/pets');
    for (const { responses } of creations) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['201', '409', '422']));
      expect(responses['201']?.headers).toHaveProperty('Idempotent-Replayed');
    }
  });
});

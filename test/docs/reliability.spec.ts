import { readFileSync } from 'node:fs';
import { ApiDocument } from '../support/http/document.js';

const creations = new ApiDocument().operations.filter(
  ({ method, path, parameters }) =>
    method === 'POST' && path.startsWith('/v1/') && parameters.some(({ name }) => name === 'Idempotency-Key'),
);
const description: string = JSON.parse(readFileSync('openapi.json', 'utf8')).info.description;

describe('what is said of an Idempotency-Key', () => {
  it.each([
    ['docs/reliability.md', readFileSync('docs/reliability.md', 'utf8').split('\n')],
    ['the description in openapi.json', description.split('\n\n')],
  ])('names each POST under /v1 that takes one: %s', (_where, paragraphs) => {
    const text = paragraphs.find((each) => each.includes('`Idempotency-Key`')) ?? '';
    const named = Array.from(text.matchAll(/`POST (\/v1\/[^`]+)`/g), ([, path]) => path);
    expect(named).toEqual(creations.map(({ path }) => path));
  });

  it('names no other POST: docs/running.md', () => {
    expect(readFileSync('docs/running.md', 'utf8')).toContain(
      'repeat a `POST` that takes an `Idempotency-Key`',
    );
  });

  it('holds for each: the stored response, 409 while the first is in flight, 422 for another request', () => {
    for (const { responses } of creations) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['201', '409', '422']));
      expect(responses['201']?.headers).toHaveProperty('Idempotent-Replayed');
    }
  });
});

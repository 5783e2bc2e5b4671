import document from '../../../openapi.json';
import type { OpenApiDocument } from './openapi-document';
import { readOperations } from './operations';
import { emptyValues, parameterError, prepareRequest, type Values } from './request';

const operations = readOperations(document as unknown as OpenApiDocument, '/docs', false);
const ORIGIN = 'http://localhost:3000';

function requestTo(id: string, values: Partial<Values>) {
  const operation = operations.find((each) => each.id === id);
  if (operation === undefined) {
    throw new Error(`No operation ${id}`);
  }
  return prepareRequest(operation, { ...emptyValues(operation), ...values }, ORIGIN);
}

describe('prepareRequest', () => {
  it('sends only what is filled in', () => {
    expect(requestTo('listPets', { query: { limit: '3', status: '', cursor: ' ' } })).toEqual({
      method: 'GET',
      url: `${ORIGIN}/v1/pets?limit=3`,
      headers: [],
      body: null,
    });
  });

  it('encodes the values of the path and of the query', () => {
    expect(requestTo('getPet', { path: { petId: 'a/b?c' } }).url).toBe(`${ORIGIN}/v1/pets/a%2Fb%3Fc`);
    expect(requestTo('listPets', { query: { status: "a&b=c d'" } }).url).toBe(
      `${ORIGIN}/v1/pets?status=a%26b%3Dc%20d%27`,
    );
  });

  it('sends the body as it is written, with its content type, and no body if it is empty', () => {
    expect(requestTo('createPet', { body: '{"name": ', header: { 'Idempotency-Key': 'one' } })).toMatchObject(
      {
        headers: [
          ['Idempotency-Key', 'one'],
          ['Content-Type', 'application/json'],
        ],
        body: '{"name": ',
      },
    );
    expect(requestTo('createPet', { body: '' })).toMatchObject({ headers: [], body: null });
  });
});

describe('parameterError', () => {
  const parameter = { name: 'x', required: true, description: '', choices: null, isInteger: false };
  const rest = { defaultValue: null, example: null };

  it.each([
    ['path', '', 'Enter x, which is part of the path'],
    ['path', '..', 'A part of a path cannot be dots alone'],
    ['path', '7', null],
    ['query', '', null],
    ['header', 'é', null],
    ['header', '→', 'A header cannot carry these characters'],
    ['header', 'a\nb', 'A header cannot carry these characters'],
  ] as const)('returns why the %s value %j cannot be sent, if it cannot', (place, value, error) => {
    expect(parameterError({ ...parameter, ...rest, place }, value)).toBe(error);
  });
});

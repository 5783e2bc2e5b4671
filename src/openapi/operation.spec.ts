import type { OperationObject, ResponseObject } from '@nestjs/swagger';
import { referToHeaders } from './headers.js';
import { completeOperation, errorComponents } from './operation.js';

const LIST: OperationObject = {
  responses: {
    200: { description: 'A page.', headers: referToHeaders(['PageLinks']) },
    304: { description: 'It still holds.' },
  },
};
const PAGE_LINKS = { $ref: '#/components/headers/PageLinks' };
const DEPRECATION_LINKS = { $ref: '#/components/headers/DeprecationLinks' };

const ERRORS = errorComponents();

/** Returns the `Link` header of each status. */
function readLinks(operation: OperationObject): Record<string, unknown> {
  const { responses } = completeOperation(
    { ...operation, 'x-stability': 'stable' } as OperationObject,
    'get',
    '/v1/pets',
  );
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const { $ref, headers } = response as ResponseObject & { $ref?: string };
      return [status, (ERRORS[$ref?.split('/').at(-1) ?? '']?.headers ?? headers)?.['Link']];
    }),
  );
}

test('completeOperation adds page links to the page of a list, and to no error', () => {
  expect(readLinks(LIST)).toMatchObject({ 200: PAGE_LINKS, 304: PAGE_LINKS, 401: undefined, 500: undefined });
});

test('completeOperation adds deprecation links to all responses of a deprecated non-list operation', () => {
  const links = readLinks({ deprecated: true, responses: { 200: { description: 'An animal.' } } });
  expect(Object.keys(links)).toEqual(expect.arrayContaining(['200', '401', '410', '500']));
  for (const link of Object.values(links)) {
    expect(link).toEqual(DEPRECATION_LINKS);
  }
});

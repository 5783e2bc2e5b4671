import type { OpenAPIObject } from '@nestjs/swagger';
import { deprecationsText } from './deprecations.js';

function deprecated(operationId: string, replacement: string) {
  return {
    operationId,
    responses: {},
    deprecated: true,
    'x-deprecated-since': '2025-12-05',
    'x-sunset': '2030-12-05',
    'x-replacement': replacement,
  };
}

test('deprecationsText returns a section for each deprecated operation, with the method to use instead', () => {
  const store: OpenAPIObject['paths'] = {
    '/pets': { get: { operationId: 'listPets', responses: {} }, post: deprecated('addPet', '/v1/animals') },
  };
  const administration: OpenAPIObject['paths'] = {
    '/admin/keys': { get: deprecated('listKeys', '/admin/accounts') },
  };
  const [, ...sections] = deprecationsText([{ paths: store }, { paths: administration }]).split('\n## ');
  expect(sections).toEqual([
    expect.stringMatching(
      /^`POST \/v1\/pets`\n[^]*\n\| `addPet` \| 2025-12-05 \| 2030-12-05 \| `POST \/v1\/animals` \|\n$/,
    ),
    expect.stringMatching(
      /^`GET \/admin\/keys`\n[^]*\n\| `listKeys` \| 2025-12-05 \| 2030-12-05 \| `GET \/admin\/accounts` \|\n$/,
    ),
  ]);
});

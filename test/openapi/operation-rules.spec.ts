import { readFileSync } from 'node:fs';
import { ApiDocument, type Operation } from '../support/http/document.js';

const { operations } = new ApiDocument();
const ofClients = operations.filter(({ path }) => path.startsWith('/v1/'));

/** Why these take no `Idempotency-Key`. */
const WITHOUT_IDEMPOTENCY_KEY: Record<string, string> = {
  issueFurtherKey: 'Its response has a key, which is never stored.',
  rotateCurrentKey: 'Its response has a key, which is never stored.',
  revokeFurtherKey: 'A second revocation changes nothing.',
};

/** Why these have no `ETag`. */
const WITHOUT_ETAG: Record<string, string> = {
  getRateLimit: 'Each request changes it.',
  getCurrentKey: 'Each request changes when the key was last used.',
  listFurtherKeys: 'Requests change when a key was last used.',
  listUsage: 'Each request changes it.',
  listDeprecatedCalls: 'Each deprecated call changes it.',
  listFailedRequests: 'Each failed request changes it.',
  getFailedRequest: 'Another request may have the same id.',
};

interface DocumentedOperation {
  security: { apiKey: string[] }[];
  responses: Record<string, { $ref: string }>;
}

const takesIdempotencyKey = ({ parameters }: Operation) =>
  parameters.some(({ name }) => name === 'Idempotency-Key');
const hasEtag = ({ responses }: Operation) => 'ETag' in (responses['200']?.headers ?? {});

describe('each operation', () => {
  it.each(['openapi.json', 'admin-openapi.json'])(
    'names its own scope in the example of its 403 (%s)',
    (file) => {
      const { paths, components } = JSON.parse(readFileSync(`docs/${file}`, 'utf8')) as {
        paths: Record<string, Record<string, DocumentedOperation>>;
        components: { responses: Record<string, unknown> };
      };
      for (const { security, responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
        const [scope] = security[0]?.apiKey ?? [];
        const name = responses['403']?.$ref.split('/').at(-1) ?? '';
        const named = JSON.stringify(components.responses[name]).match(/lacks the scope \w+:\w+/g) ?? [];
        expect([...new Set(named)]).toEqual(scope === undefined ? [] : [`lacks the scope ${scope}`]);
      }
    },
  );
});

describe('the operations of clients', () => {
  it('take an Idempotency-Key on each POST, or say here why not', () => {
    const posts = ofClients.filter(({ method }) => method === 'POST');
    const missing = posts.filter(
      (operation) => !takesIdempotencyKey(operation) && !(operation.operationId in WITHOUT_IDEMPOTENCY_KEY),
    );
    const advice = ({ operationId }: Operation) =>
      `${operationId}: use @Creates() and IdempotencyService, or add a line to WITHOUT_IDEMPOTENCY_KEY`;
    expect(missing.map(advice)).toStrictEqual([]);
  });

  it('send an ETag with each list and each read, or say here why not', () => {
    const reads = ofClients.filter(({ method }) => method === 'GET');
    const missing = reads.filter(
      (operation) => !hasEtag(operation) && !(operation.operationId in WITHOUT_ETAG),
    );
    const advice = ({ operationId }: Operation) =>
      `${operationId}: add @Revalidated() with its headers, or a line to WITHOUT_ETAG`;
    expect(missing.map(advice)).toStrictEqual([]);
  });

  it('are as the exceptions here say', () => {
    const exceptions = ofClients.filter(
      (operation) =>
        (operation.operationId in WITHOUT_IDEMPOTENCY_KEY && !takesIdempotencyKey(operation)) ||
        (operation.operationId in WITHOUT_ETAG && !hasEtag(operation)),
    );
    expect(exceptions.map(({ operationId }) => operationId).toSorted()).toEqual(
      [...Object.keys(WITHOUT_IDEMPOTENCY_KEY), ...Object.keys(WITHOUT_ETAG)].toSorted(),
    );
  });
});

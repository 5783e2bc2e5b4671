import { queryOptions } from '@tanstack/react-query';
import { AnimalStoreError, ConnectionError, RateLimitError } from 'animal-store-client';
import { SERVICE_ROOT } from '../address/service-root';
import type { OpenApiDocument } from './openapi-document';
import { type Operation, readOperations } from './operations';

const STORE = {
  file: `${SERVICE_ROOT}openapi.json`,
  reference: `${SERVICE_ROOT}docs`,
  isAdministration: false,
};
const ADMINISTRATION = {
  file: `${SERVICE_ROOT}admin-openapi.json`,
  reference: `${SERVICE_ROOT}docs?urls.primaryName=Administration`,
  isAdministration: true,
};

/** The operations of the service's own documents. They need no key and change only with the service, so each is read once. */
export const operationsQuery = (ofAdministration: boolean) => {
  const { file, reference, isAdministration } = ofAdministration ? ADMINISTRATION : STORE;
  return queryOptions({
    queryKey: ['operations', file],
    queryFn: async ({ signal }): Promise<Operation[]> =>
      readOperations(await load(file, signal), reference, isAdministration),
    staleTime: Infinity,
    gcTime: Infinity,
  });
};

/** @throws AnimalStoreError like the client, which loads no documents. Their limit is that of the address. */
async function load(file: string, signal: AbortSignal): Promise<OpenApiDocument> {
  let response: Response;
  try {
    response = await fetch(file, { signal, credentials: 'omit' });
  } catch (cause) {
    const failure = { status: null, code: 'no_response', requestId: null, retryAfterMs: null };
    throw new ConnectionError(`${file} did not arrive`, { ...failure, headers: new Headers() }, { cause });
  }
  const { ok, status, headers } = response;
  if (!ok) {
    const seconds = headers.get('Retry-After');
    throw new (status === 429 ? RateLimitError : AnimalStoreError)(
      `${file} could not be loaded (status ${status}).`,
      {
        status,
        code: 'document_not_loaded',
        requestId: headers.get('X-Request-Id'),
        retryAfterMs: seconds === null ? null : Number(seconds) * 1000,
        headers,
      },
    );
  }
  return (await response.json()) as OpenApiDocument;
}

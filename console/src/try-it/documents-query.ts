import { queryOptions } from '@tanstack/react-query';
import type { OpenApiDocument } from './openapi-document';
import { type Operation, operationsOf } from './operations';

const STORE = { file: '/openapi.json', reference: '/docs', isAdministration: false };
const ADMINISTRATION = { file: '/admin-openapi.json', reference: '/docs/admin', isAdministration: true };

/** The operations of the service's own documents. They need no key and change only with the service, so each is read once. */
export const operationsQuery = (ofAdministration: boolean) => {
  const { file, reference, isAdministration } = ofAdministration ? ADMINISTRATION : STORE;
  return queryOptions({
    queryKey: ['operations', file],
    queryFn: async ({ signal }): Promise<Operation[]> => {
      const response = await fetch(file, { signal, credentials: 'omit' });
      if (!response.ok) {
        throw new Error(`${file} could not be loaded (status ${response.status}).`);
      }
      return operationsOf((await response.json()) as OpenApiDocument, reference, isAdministration);
    },
    staleTime: Infinity,
    gcTime: Infinity,
  });
};

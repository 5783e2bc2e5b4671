import type { HeadersObject, OpenAPIObject, OperationObject, ResponsesObject } from '@nestjs/swagger';
import { type HeaderKey, headers, headerName } from './headers.js';
import { lifecycleHeaders, mapOperations, SHARED_HEADERS } from './operation.js';

/** The header of every error response. */
const ERROR_HEADER: HeaderKey = 'NoStore';

/**
 * Returns the document for the reference page. Its first server is the one that serves the page, and the headers of all responses are
 * described once instead of for each status.
 *
 * @param here the URL of the paths on this server.
 */
export function referenceDocument(document: OpenAPIObject, here: string): OpenAPIObject {
  const { info, servers = [], paths } = document;
  return {
    ...document,
    info: { ...info, description: [info.description, headersOfAll()].join('\n\n') },
    servers: [{ url: here, description: 'This server' }, ...servers],
    paths: mapOperations(paths, withOwnHeaders),
  };
}

function headersOfAll(): string {
  return [
    '**Headers of every response.** The operations below list only their additional headers.',
    listOf(SHARED_HEADERS),
    `Errors also have \`${headerName(ERROR_HEADER)}: ${headers[ERROR_HEADER].example}\`.`,
  ].join('\n\n');
}

/** Moves headers that all responses of the operation share from the responses to its description. */
function withOwnHeaders(operation: OperationObject): OperationObject {
  const lifecycle = lifecycleHeaders(operation);
  const shared = [...SHARED_HEADERS, ...lifecycle];
  const responses: ResponsesObject = Object.fromEntries(
    Object.entries(operation.responses).map(([status, response]) => [
      status,
      response === undefined || '$ref' in response
        ? response
        : {
            ...response,
            headers: without(response.headers, Number(status) >= 400 ? [...shared, ERROR_HEADER] : shared),
          },
    ]),
  );
  const ofOperation =
    lifecycle.length === 0 ? [] : ['**Headers of every response of this operation.**', listOf(lifecycle)];
  return { ...operation, description: [operation.description, ...ofOperation].join('\n\n'), responses };
}

function without(listed: HeadersObject = {}, keys: readonly HeaderKey[]): HeadersObject {
  const references = new Set(keys.map(referenceTo));
  return Object.fromEntries(
    Object.entries(listed).filter(([, header]) => !('$ref' in header && references.has(header.$ref))),
  );
}

const referenceTo = (key: HeaderKey) => `#/components/headers/${key}`;

function listOf(keys: readonly HeaderKey[]): string {
  return keys.map((key) => `- \`${headerName(key)}\`: ${headers[key].description}`).join('\n');
}

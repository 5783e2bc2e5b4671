import type {
  DocumentOperation,
  DocumentParameter,
  DocumentResponse,
  OpenApiDocument,
  Schema,
} from './openapi-document';

/** Where a parameter stands in a request. */
export type ParameterPlace = 'path' | 'query' | 'header';

/** A parameter as a field of a form. */
export interface Parameter {
  name: string;
  place: ParameterPlace;
  required: boolean;
  description: string;
  /** The values to choose from; null if any text can be entered. */
  choices: string[] | null;
  isInteger: boolean;
  defaultValue: string | null;
  example: string | null;
}

/** An operation of the service as its document describes it. */
export interface Operation {
  id: string;
  method: string;
  /** The path below the root of the service, such as `/v1/pets/{petId}`. */
  path: string;
  tag: string;
  summary: string;
  description: string;
  stability: string;
  deprecation: { since: string | null; removedAt: string | null; replacement: string | null } | null;
  parameters: Parameter[];
  /** The request body, with an example as text; null if the operation has none. */
  body: { contentType: string; example: string } | null;
  /** What each status means for this operation. */
  statuses: Record<string, string>;
  /** How the document describes each response header, by its name in lower case. */
  headers: Record<string, string>;
  isAdministration: boolean;
  /** Where the reference shows the operation. */
  referenceUrl: string;
}

/** Groups the operations of one tag. */
interface OperationGroup {
  tag: string;
  operations: Operation[];
}

/**
 * Returns the operations of a document, in the order of its tags.
 * @param reference the path of the page that shows the document.
 */
export function readOperations(
  document: OpenApiDocument,
  reference: string,
  isAdministration: boolean,
): Operation[] {
  // The paths of the public document begin after the version.
  const basePath = isAdministration ? '' : '/v1';
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.operationId !== undefined)
      .map(([method, operation]): Operation => {
        const { operationId: id, tags: [tag = 'other'] = [] } = operation;
        return {
          id,
          method: method.toUpperCase(),
          path: basePath + path,
          tag,
          summary: operation.summary ?? id,
          description: operation.description ?? '',
          stability: operation['x-stability'] ?? 'stable',
          deprecation: readDeprecation(operation),
          parameters: (operation.parameters ?? []).flatMap((each) => readParameter(each, document)),
          body: readBody(operation, document),
          statuses: Object.fromEntries(
            Object.entries(operation.responses).map(([status, response]) => [
              status,
              resolveResponse(response, document).description ?? '',
            ]),
          ),
          headers: readHeaders(operation, document),
          isAdministration,
          referenceUrl: `${reference}#/${encodeURIComponent(tag)}/${encodeURIComponent(id)}`,
        };
      }),
  );
  const order = (document.tags ?? []).map(({ name }) => name);
  const rank = ({ tag }: Operation) => (order.includes(tag) ? order.indexOf(tag) : order.length);
  return operations.toSorted((one, other) => rank(one) - rank(other));
}

/** Returns the operations that have every word of a phrase in their method, path, name, summary or tag, by tag. */
export function searchOperations(operations: Operation[], phrase: string): OperationGroup[] {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  const found = operations.filter(({ method, path, id, summary, tag }) => {
    const text = `${method} ${path} ${id} ${summary} ${tag}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const tags = [...new Set(found.map(({ tag }) => tag))];
  return tags.map((tag) => ({ tag, operations: found.filter((each) => each.tag === tag) }));
}

/** These only add something. */
const CREATES = new Set(['createPet', 'createOrder', 'issueKey', 'createWebhook']);

/** Returns whether an operation changes something that exists, so that it is confirmed before it is sent. */
export function needsConfirmation({ id, method }: Operation): boolean {
  return !['GET', 'HEAD'].includes(method) && !CREATES.has(id);
}

function readParameter(parameter: DocumentParameter, document: OpenApiDocument): Parameter[] {
  const { name, in: place, required = false, description } = parameter;
  if (place === 'cookie') {
    return [];
  }
  const schema = resolveSchema(parameter.schema, document);
  const isInteger = schema.type === 'integer';
  const { minimum, maximum } = schema;
  const range =
    isInteger && minimum !== undefined && maximum !== undefined ? ` From ${minimum} to ${maximum}.` : '';
  return [
    {
      name,
      place,
      required,
      description: `${description ?? ''}${range}`,
      choices: schema.type === 'boolean' ? ['true', 'false'] : (schema.enum?.map(String) ?? null),
      isInteger,
      defaultValue: toText(schema.default),
      example: toText(parameter.example ?? schema.examples?.[0]),
    },
  ];
}

function readBody({ requestBody }: DocumentOperation, document: OpenApiDocument): Operation['body'] {
  const [contentType, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (contentType === undefined || media === undefined) {
    return null;
  }
  const example = resolveSchema(media.schema, document).examples?.[0];
  return { contentType, example: example === undefined ? '' : JSON.stringify(example, null, 2) };
}

function readDeprecation(operation: DocumentOperation): Operation['deprecation'] {
  return operation.deprecated === true
    ? {
        since: operation['x-deprecated-since'] ?? null,
        removedAt: operation['x-sunset'] ?? null,
        replacement: operation['x-replacement'] ?? null,
      }
    : null;
}

function readHeaders({ responses }: DocumentOperation, document: OpenApiDocument): Record<string, string> {
  const descriptions = Object.values(responses).flatMap((response) =>
    Object.entries(resolveResponse(response, document).headers ?? {}).map(
      ([name, { $ref, description }]): [string, string] => {
        const shared = $ref === undefined ? undefined : document.components?.headers?.[lastSegment($ref)];
        return [name.toLowerCase(), description ?? shared?.description ?? ''];
      },
    ),
  );
  return Object.fromEntries(descriptions.filter(([, description]) => description !== ''));
}

function resolveResponse(response: DocumentResponse, { components }: OpenApiDocument): DocumentResponse {
  const { $ref } = response;
  return $ref === undefined ? response : (components?.responses?.[lastSegment($ref)] ?? {});
}

function resolveSchema(schema: Schema = {}, document: OpenApiDocument): Schema {
  const { $ref, ...own } = schema;
  return $ref === undefined ? own : { ...document.components?.schemas?.[lastSegment($ref)], ...own };
}

function lastSegment(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function toText(value: unknown): string | null {
  return value === undefined || value === null
    ? null
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
}

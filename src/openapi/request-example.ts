import type { OperationObject, RequestBodyObject } from '@nestjs/swagger';

const JSON_TYPE = 'application/json';

type Schemas = Record<string, { examples?: unknown }>;

/**
 * Returns the operation with the first example of its body's schema as the example of the body. The reference page prefills it, and tools
 * read it there rather than in a referenced schema.
 */
export function withRequestExample(operation: OperationObject, schemas: Schemas): OperationObject {
  const { requestBody } = operation;
  if (requestBody === undefined || '$ref' in requestBody) {
    return operation;
  }
  const content = requestBody.content[JSON_TYPE];
  const example = findExample(content?.schema, schemas);
  if (example === undefined) {
    return operation;
  }
  const completed: RequestBodyObject = {
    ...requestBody,
    content: { ...requestBody.content, [JSON_TYPE]: { ...content, example } },
  };
  return { ...operation, requestBody: completed };
}

function findExample(schema: object | undefined, schemas: Schemas): unknown {
  const name = schema !== undefined && '$ref' in schema ? String(schema.$ref).split('/').at(-1) : undefined;
  const examples = name === undefined ? undefined : schemas[name]?.examples;
  return Array.isArray(examples) ? examples[0] : undefined;
}

import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, type OperationObject, SwaggerModule } from '@nestjs/swagger';
import { z } from 'zod';
import type { Environment } from '../settings/environment.js';
import { jsonSchema, namedJsonSchemas } from '../schemas/json-schema.js';
import { about, type About, aboutAdministration, securitySchemes } from './about.js';
import { referencedComponents } from './components.js';
import { headers } from './headers.js';
import { completeOperation, errorComponents, mapOperations } from './operation.js';

const PREFIX = '/v1';
const ADMINISTRATION_PREFIX = '/admin';

type Paths = OpenAPIObject['paths'];
type Schemas = ReturnType<typeof namedJsonSchemas>;
type Servers = NonNullable<OpenAPIObject['servers']>;

/** The OpenAPI documents of the service. */
interface ApiDocuments {
  /** The public interface. The URLs of its servers end in the version, and its paths start after it. */
  store: OpenAPIObject;
  /** Administration, which has no version. It is a document of its own, because generators ignore the servers of single paths. */
  administration: OpenAPIObject;
}

/** Returns the OpenAPI documents of all routes that need a key, with the schemas that validate requests and serialize responses. */
export function createDocuments(
  app: INestApplication,
  { PRODUCTION_URL, STAGING_URL, CONTACT }: Pick<Environment, 'PRODUCTION_URL' | 'STAGING_URL' | 'CONTACT'>,
): ApiDocuments {
  const { paths } = SwaggerModule.createDocument(app, about, {
    operationIdFactory: (_controller, method) => method,
    standardSchemaConverter: (schema, { schemaType }) => ({
      schema: toJsonSchema(schema as z.ZodType, schemaType),
    }),
  });
  const schemas = namedJsonSchemas((id) => `#/components/schemas/${id}`);
  const servers = [
    { url: PRODUCTION_URL, description: 'Production', 'x-internal': false },
    {
      url: STAGING_URL,
      description: 'Staging, for tests; it has its own keys',
      'x-internal': false,
    },
  ];
  const roots = servers.map(({ url, ...server }) => ({ url: url.slice(0, -PREFIX.length), ...server }));
  return {
    store: buildDocument(
      withContact(about, CONTACT),
      servers,
      withoutPrefix(pathsUnder(PREFIX, paths)),
      schemas,
    ),
    administration: buildDocument(
      withContact(aboutAdministration, CONTACT),
      roots,
      pathsUnder(ADMINISTRATION_PREFIX, paths),
      schemas,
    ),
  };
}

/** Returns a document as it is served and committed, with each reference on one line. */
export function documentText(document: OpenAPIObject): string {
  return `${JSON.stringify(document, null, 2).replaceAll(/\{\s+("\$ref": "[^"]+")\s+\}/g, '{ $1 }')}\n`;
}

/** Adds the contact, if there is one. */
function withContact(aboutIt: About, contact: string | undefined): About {
  if (contact === undefined) {
    return aboutIt;
  }
  const address = URL.canParse(contact) ? { url: contact } : { email: contact };
  return { ...aboutIt, info: { ...aboutIt.info, contact: address } };
}

function buildDocument(aboutIt: About, servers: Servers, paths: Paths, schemas: Schemas): OpenAPIObject {
  return {
    ...aboutIt,
    servers,
    paths,
    components: {
      securitySchemes,
      ...referencedComponents(paths, { headers, responses: errorComponents(), schemas }),
    },
  };
}

/** Returns a reference for a named schema, whose `$defs` the library turns into components; else the schema itself. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) {
    return { $ref: `#/$defs/${id}` };
  }
  // The other objects are queries. Parameters arrive as text, and are documented as what they become; none is required.
  const { $defs: _defs, ...own } =
    schema instanceof z.ZodObject
      ? jsonSchema(z.object(schema.shape).partial(), 'output')
      : jsonSchema(schema, io);
  return own;
}

/** Returns the public paths relative to the servers, whose URLs include the prefix. */
function withoutPrefix(paths: Paths): Paths {
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path.slice(PREFIX.length), item]));
}

function pathsUnder(prefix: string, paths: Paths): Paths {
  const selected = Object.entries(paths).filter(([path]) => path.startsWith(`${prefix}/`));
  return mapOperations(Object.fromEntries(selected), (operation, method) =>
    completeOperation(prefix === ADMINISTRATION_PREFIX ? withForbidden(operation) : operation, method),
  );
}

/** Declares 403, because `RoleGuard` rejects clients' keys by the prefix. */
function withForbidden(operation: OperationObject): OperationObject {
  return { ...operation, responses: { ...operation.responses, 403: { description: '' } } };
}

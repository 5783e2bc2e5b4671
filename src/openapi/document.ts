import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { z } from 'zod';
import type { Environment } from '../environment.js';
import { jsonSchema, namedJsonSchemas } from '../http/json-schema.js';
import { about, type About, aboutAdministration, securitySchemes } from './about.js';
import { referencedComponents } from './components.js';
import { headers } from './headers.js';
import { completeOperation } from './operation.js';

const PREFIX = '/v1';
const ADMINISTRATION_PREFIX = '/admin';

type Paths = OpenAPIObject['paths'];
type Servers = NonNullable<OpenAPIObject['servers']>;

/** The OpenAPI documents of the service. */
export interface ApiDocuments {
  /** Of the public interface; the servers' addresses end in the version, and paths follow it. */
  store: OpenAPIObject;
  /** Of administration, which is outside of the version: generators ignore servers of single paths. */
  administration: OpenAPIObject;
}

/** Returns the OpenAPI documents: the routes that need a key, with the schemas that validate and write their bodies. */
export function createDocuments(
  app: INestApplication,
  { PRODUCTION_URL, STAGING_URL }: Pick<Environment, 'PRODUCTION_URL' | 'STAGING_URL'>,
): ApiDocuments {
  const { paths } = SwaggerModule.createDocument(app, about, {
    operationIdFactory: (_controller, method) => method,
    standardSchemaConverter: (schema, { schemaType }) => ({
      schema: schemaOf(schema as z.ZodType, schemaType),
    }),
  });
  const servers = [
    { url: PRODUCTION_URL, description: 'Production' },
    { url: STAGING_URL, description: 'Staging, for trying things out; it has keys of its own' },
  ];
  const roots = servers.map(({ url, description }) => ({ url: url.slice(0, -PREFIX.length), description }));
  return {
    store: documentOf(about, servers, withoutPrefix(pathsUnder(PREFIX, paths))),
    administration: documentOf(aboutAdministration, roots, pathsUnder(ADMINISTRATION_PREFIX, paths)),
  };
}

/** Returns a document as it is served and committed. */
export function documentText(document: OpenAPIObject): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

function documentOf(aboutIt: About, servers: Servers, paths: Paths): OpenAPIObject {
  const schemas = namedJsonSchemas((id) => `#/components/schemas/${id}`);
  return {
    ...aboutIt,
    servers,
    paths,
    components: { securitySchemes, ...referencedComponents(paths, { headers, schemas }) },
  };
}

/** A named schema is referred to; the library turns `$defs` into components. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) {
    return { $ref: `#/$defs/${id}` };
  }
  const { $defs: _defs, ...own } = jsonSchema(schema, io);
  return own;
}

/** The public paths, relative to the servers, whose addresses have the prefix. */
function withoutPrefix(paths: Paths): Paths {
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path.slice(PREFIX.length), item]));
}

function pathsUnder(prefix: string, paths: Paths): Paths {
  return Object.fromEntries(
    Object.entries(paths)
      .filter(([path]) => path.startsWith(`${prefix}/`))
      .map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [
            method,
            completeOperation(operation, method),
          ]),
        ),
      ]),
  );
}

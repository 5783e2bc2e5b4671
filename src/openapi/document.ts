import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { z } from 'zod';
import type { Environment } from '../environment.js';
import { jsonSchema, namedJsonSchemas } from '../http/json-schema.js';
import { about, securitySchemes } from './about.js';
import { headers } from './headers.js';
import { completeOperation } from './operation.js';

const PREFIX = '/v1';
const ADMINISTRATION = '/admin';

type Servers = Pick<Environment, 'PRODUCTION_URL' | 'STAGING_URL'>;

/** The OpenAPI document: the routes that need a key, with the schemas that validate and write their bodies. */
export function createDocument(
  app: INestApplication,
  { PRODUCTION_URL, STAGING_URL }: Servers,
): OpenAPIObject {
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
  return {
    ...about,
    servers,
    paths: { ...publicPaths(paths), ...administrativePaths(paths, servers) },
    components: {
      securitySchemes,
      headers,
      schemas: namedJsonSchemas((id) => `#/components/schemas/${id}`),
    },
  };
}

/** The document as it is served and committed. */
export function documentText(document: OpenAPIObject): string {
  return `${JSON.stringify(document, null, 2)}\n`;
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
function publicPaths(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  return Object.fromEntries(
    pathsUnder(PREFIX, paths).map(([path, operations]) => [path.slice(PREFIX.length), operations]),
  );
}

/** The paths of administration, which stand beside the prefix and so have servers of their own. */
function administrativePaths(
  paths: OpenAPIObject['paths'],
  servers: { url: string; description: string }[],
): OpenAPIObject['paths'] {
  const roots = servers.map(({ url, description }) => ({ url: url.slice(0, -PREFIX.length), description }));
  return Object.fromEntries(
    pathsUnder(ADMINISTRATION, paths).map(([path, operations]) => [path, { servers: roots, ...operations }]),
  );
}

function pathsUnder(
  prefix: string,
  paths: OpenAPIObject['paths'],
): [path: string, operations: OpenAPIObject['paths'][string]][] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(`${prefix}/`))
    .map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [
          method,
          completeOperation(operation, method),
        ]),
      ),
    ]);
}

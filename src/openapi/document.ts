import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, type OperationObject, SwaggerModule } from '@nestjs/swagger';
import { z } from 'zod';
import type { Environment } from '../process/settings/environment.js';
import { publicPrefix } from '../process/settings/public-prefix.js';
import { type KeyRole, roleForPath } from '../auth/rules/role.js';
import { jsonSchema, namedJsonSchemas } from '../schemas/json-schema.js';
import { about, type About, aboutAdministration, securitySchemes } from './about.js';
import { headers } from './headers.js';
import { describeTags } from './tag.decorator.js';
import { completeOperation, errorComponents } from './operation.js';

/** The URLs of the public document's servers end in it. */
const PREFIX = '/v1';

const REFERENCE = /"\$ref":"#\/components\/(\w+)\/([^"]+)"/g;

type Components = Record<string, Record<string, object>>;
type Paths = OpenAPIObject['paths'];
type Webhooks = NonNullable<OpenAPIObject['webhooks']>;
type Servers = NonNullable<OpenAPIObject['servers']>;

/**
 * Returns the OpenAPI documents of all routes that need a key, with the schemas that validate requests and
 * serialize responses. Administration, which has no version, has its own, because generators ignore the
 * servers of single paths.
 *
 * @param webhooks the requests that administrators have the service send.
 */
export function createDocuments(
  app: INestApplication,
  environment: Pick<Environment, 'APP_ENV' | 'PRODUCTION_URL' | 'STAGING_URL' | 'CONTACT'>,
  webhooks: Webhooks,
): Record<'store' | 'administration', OpenAPIObject> {
  const { PRODUCTION_URL, STAGING_URL, CONTACT } = environment;
  const { paths } = SwaggerModule.createDocument(app, about, {
    operationIdFactory: (_controller, method) => method,
    standardSchemaConverter: (schema, { schemaType }) => ({
      schema: toJsonSchema(schema as z.ZodType, schemaType),
    }),
  });
  const schemas = namedJsonSchemas((id) => `#/components/schemas/${id}`);
  const contact =
    CONTACT === undefined ? {} : { contact: URL.canParse(CONTACT) ? { url: CONTACT } : { email: CONTACT } };
  const buildDocument = (aboutIt: About, servers: Servers, own: Paths, sent?: Webhooks): OpenAPIObject => ({
    ...aboutIt,
    info: { ...aboutIt.info, ...contact },
    servers,
    tags: describeTags(tagsOf(own)),
    paths: own,
    ...(sent && { webhooks: sent }),
    components: {
      securitySchemes,
      ...referencedComponents([own, sent], { headers, responses: errorComponents(), schemas }),
    },
  });
  const servers = [
    {
      url: publicPrefix(environment) + PREFIX,
      description: `This server (${environment.APP_ENV})`,
      'x-internal': false,
    },
    { url: PRODUCTION_URL, description: 'Production', 'x-internal': false },
    { url: STAGING_URL, description: 'Staging, for tests; it has its own keys', 'x-internal': false },
  ];
  const roots = servers.map(({ url, ...server }) => ({
    url: url.slice(0, -PREFIX.length) || '/',
    ...server,
  }));
  return {
    store: buildDocument(about, servers, pathsFor('client', paths, PREFIX.length)),
    administration: buildDocument(aboutAdministration, roots, pathsFor('admin', paths), webhooks),
  };
}

/** Returns a document as it is served and committed, with each reference on one line. */
export function documentText(document: OpenAPIObject): string {
  return `${JSON.stringify(document, null, 2).replaceAll(/\{\s+("\$ref": "[^"]+")\s+\}/g, '{ $1 }')}\n`;
}

/** Returns a reference for a named schema, whose `$defs` the library turns into components. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) {
    return { $ref: `#/$defs/${id}` };
  }
  // The other objects are queries. Parameters arrive as text, and are documented as what they become; none is
  // required.
  const { $defs: _defs, ...own } =
    schema instanceof z.ZodObject
      ? jsonSchema(z.object(schema.shape).partial(), 'output')
      : jsonSchema(schema, io);
  return own;
}

function tagsOf(paths: Paths): Set<string> {
  const operations = Object.values(paths).flatMap((item) =>
    Object.values(item as Record<string, OperationObject>),
  );
  return new Set(operations.flatMap(({ tags }) => tags ?? []));
}

/** Returns the operations for a role. The first `cut` characters of their paths are in the servers. */
function pathsFor(role: KeyRole, paths: Paths, cut = 0): Paths {
  const selected = Object.entries(paths).filter(([path]) => roleForPath(path) === role);
  return Object.fromEntries(
    selected.map(([path, item]) => {
      const operations = Object.entries(item as Record<string, OperationObject>).map(
        ([method, operation]) => [method, completeOperation(operation, method, path)] as const,
      );
      return [path.slice(cut), Object.fromEntries(operations)];
    }),
  );
}

/** Returns the components that parts of a document refer to, directly or through another component. */
function referencedComponents<All extends Components>(parts: unknown[], components: All): All {
  const referenced = new Set<object>();
  const follow = (value: unknown): void => {
    for (const [, kind = '', name = ''] of JSON.stringify(value).matchAll(REFERENCE)) {
      const component = components[kind]?.[name];
      if (component !== undefined && !referenced.has(component)) {
        referenced.add(component);
        follow(component);
      }
    }
  };
  follow(parts);
  return Object.fromEntries(
    Object.entries(components).map(([kind, all]) => [
      kind,
      Object.fromEntries(Object.entries(all).filter(([, component]) => referenced.has(component))),
    ]),
  ) as All;
}

import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';

/** What `@Deprecated()` adds to its operation. */
interface DeprecatedOperation extends OperationObject {
  'x-deprecated-since': string;
  'x-sunset': string;
  'x-replacement': string;
}

const INTRODUCTION = `# Deprecated operations

Generated from the routes' declarations by \`npm run documents\`. Every response of these operations has the headers
\`Deprecation\`, \`Sunset\` and \`Link\`. From 00:00 UTC on the day of removal, every response is 410 \`endpoint_removed\`.
Administrators list the remaining callers with \`animal-store deprecations\` or \`GET /admin/deprecations\`. For the rules of
deprecation, see [Versioning](versioning.md).
`;

/** Returns the page `docs/deprecations.md`, which lists the deprecated operations of these documents. */
export function deprecationsText(documents: Pick<OpenAPIObject, 'paths'>[]): string {
  const paths = documents.flatMap((document) => Object.entries(document.paths));
  const sections = paths.flatMap(([path, item]) =>
    Object.entries(item)
      .filter((entry): entry is [string, DeprecatedOperation] => entry[1]?.deprecated === true)
      .map(([method, operation]) => sectionOf(method.toUpperCase(), publicPath(path), operation)),
  );
  return [INTRODUCTION, ...sections].join('\n');
}

function sectionOf(method: string, path: string, operation: DeprecatedOperation): string {
  return `## \`${method} ${path}\`

| operation | deprecated since | removed on | instead |
| --- | --- | --- | --- |
| \`${operation.operationId}\` | ${operation['x-deprecated-since']} | ${operation['x-sunset']} | \`${method} ${operation['x-replacement']}\` |
`;
}

/** Returns the path with the version, which the public document has in its servers. */
function publicPath(path: string): string {
  return path.startsWith('/admin/') ? path : `/v1${path}`;
}

import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';

/** What `@Deprecated()` adds to its operation. */
interface DeprecatedOperation extends OperationObject {
  'x-deprecated-since': string;
  'x-sunset': string;
  'x-replacement': string;
}

const INTRODUCTION = `# Deprecated operations

Made of the routes' declarations by \`npm run documents\`. Every response of these operations tells so in \`Deprecation\`,
\`Sunset\` and \`Link\`; from the removal on, at 00:00 UTC, it is 410 \`endpoint_removed\`. Who still calls them, an
administrator sees in \`animal-store deprecations\` and at \`/admin/deprecations\`. What is deprecated when is said in
[Versioning](versioning.md).
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

/** The public document has the version in its servers. */
function publicPath(path: string): string {
  return path.startsWith('/admin/') ? path : `/v1${path}`;
}

// Writes the types of the two documents. With --check it only reports whether the types are those of the documents.

import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const SOURCES = { 'openapi.json': 'schema.ts', 'admin-openapi.json': 'admin-schema.ts' };

/** An int64 that a number may not hold: its bounds, if any, are those of numbers otherwise. */
const isUnbounded = ({ type, format, maximum = Infinity }) =>
  type === 'integer' && format === 'int64' && maximum > Number.MAX_SAFE_INTEGER;

/** Not every int64 fits a number. */
const INT64 = ts.factory.createUnionTypeNode([
  ts.factory.createKeywordTypeNode(ts.SyntaxKind.NumberKeyword),
  ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword),
]);

for (const [document, schema] of Object.entries(SOURCES)) {
  const types = await openapiTS(new URL(`../${document}`, import.meta.url), {
    transform: (definition) => (isUnbounded(definition) ? INT64 : undefined),
  });
  const text = COMMENT_HEADER + astToString(types);
  const file = new URL(`src/${schema}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    await writeFile(file, text);
  } else if ((await readFile(file, 'utf8')) !== text) {
    process.stderr.write(
      `client/src/${schema} is not generated from this ${document}: npm --prefix client run generate\n`,
    );
    process.exitCode = 1;
  }
}

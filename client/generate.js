// Writes src/schema.ts, the types of the document. With --check it only says whether they are those of the document.

import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const document = new URL('../openapi.json', import.meta.url);
const schema = new URL('src/schema.ts', import.meta.url);

/** An int64 that a number may not hold: its bounds, if any, are those of numbers otherwise. */
const isUnbounded = ({ type, format, maximum = Infinity }) =>
  type === 'integer' && format === 'int64' && maximum > Number.MAX_SAFE_INTEGER;

/** Not every int64 fits a number. */
const INT64 = ts.factory.createUnionTypeNode([
  ts.factory.createKeywordTypeNode(ts.SyntaxKind.NumberKeyword),
  ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword),
]);

const types = await openapiTS(document, {
  transform: (schema) => (isUnbounded(schema) ? INT64 : undefined),
});
const text = COMMENT_HEADER + astToString(types);

if (!process.argv.includes('--check')) {
  await writeFile(schema, text);
} else if ((await readFile(schema, 'utf8')) !== text) {
  process.stderr.write(
    'client/src/schema.ts is not of this openapi.json: npm --prefix client run generate\n',
  );
  process.exitCode = 1;
}

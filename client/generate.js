// Writes src/schema.ts, the types of the document. With --check it only says whether they are those of the document.

import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const document = new URL('../openapi.json', import.meta.url);
const schema = new URL('src/schema.ts', import.meta.url);

/** Not every int64 fits a number. */
const INT64 = ts.factory.createUnionTypeNode([
  ts.factory.createKeywordTypeNode(ts.SyntaxKind.NumberKeyword),
  ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword),
]);

const types = await openapiTS(document, {
  transform: ({ type, format }) => (type === 'integer' && format === 'int64' ? INT64 : undefined),
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

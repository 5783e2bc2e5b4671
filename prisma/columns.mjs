// The generator `columns` of schema.prisma, which `prisma generate` runs: writes the columns of the models,
// by which the service finds what its database lacks.
//
// Prisma and a generator exchange JSON-RPC, a message a line: requests on standard input, results on standard
// error.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** The types of PostgreSQL for those of Prisma without an attribute, such as `@db.Uuid`, that names one. */
const TYPES = {
  BigInt: 'bigint',
  Boolean: 'boolean',
  Bytes: 'bytea',
  DateTime: 'timestamp',
  Decimal: 'numeric',
  Float: 'double precision',
  Int: 'integer',
  Json: 'jsonb',
  String: 'text',
};

function columns({ models, enums }) {
  const findEnum = (type) => enums.find((each) => each.name === type).dbName;
  const typeOf = ({ type, nativeType, isList }) => {
    const name = nativeType?.[0].toLowerCase() ?? TYPES[type] ?? findEnum(type);
    return isList ? `${name}[]` : name;
  };
  return models.flatMap(({ dbName: relation, fields }) =>
    fields
      .filter(({ kind }) => kind !== 'object')
      .map((field) => ({
        relation,
        field: field.name,
        name: field.dbName ?? field.name,
        type: typeOf(field),
        mayBeNull: !field.isRequired,
      })),
  );
}

function generate({ generator, dmmf }) {
  const { value: file } = generator.output;
  const list = columns(dmmf.datamodel)
    .map((column) => `  ${JSON.stringify(column)},\n`)
    .join('');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `/** The columns of the models. */\nexport const COLUMNS = [\n${list}];\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'generate') {
    generate(params);
  }
  const result = method === 'getManifest' ? { manifest: { prettyName: 'its columns' } } : null;
  process.stderr.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}

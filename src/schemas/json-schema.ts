import { z } from 'zod';

/** JSON Schema, draft 2020-12, which is that of OpenAPI 3.1. */
type JsonSchema = Record<string, unknown>;

/** Formats of OpenAPI for those of zod. */
const INTEGER_FORMATS: Record<string, string> = { int32: 'int32', safeint: 'int64' };

const OPTIONS = {
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema: made }) => {
    const { def } = zodSchema._zod;
    if (def.type === 'enum' && made.anyOf !== undefined) {
      // An open enumeration: its values are in `anyOf`.
      delete made.type;
      delete made.enum;
    }
    if (def.type === 'bigint') {
      Object.assign(made, { type: 'integer', format: made.format ?? 'int64' });
    }
    const format = 'format' in def ? INTEGER_FORMATS[String(def.format)] : undefined;
    if (made.type === 'integer' && format !== undefined) {
      made.format ??= format;
    }
    // Zod drops the examples of a schema that transforms.
    const examples = z.globalRegistry.get(zodSchema)?.['examples'];
    if (Array.isArray(examples)) {
      made.examples ??= examples;
    }
    if (made.format === 'date-time') {
      // The format is enough, and zod's pattern is unreadable.
      delete made.pattern;
    }
  },
} satisfies z.core.ToJSONSchemaParams;

/** What a newer release may loosen, or store in another form. */
const BOUND = /^(enum|pattern|exclusive(Max|Min)imum|(max|min)(imum|Items|Length))$/;

/**
 * Types alone, without bounds: fast-json-stringify validates each value against an `anyOf`, which every
 * nullable field is, and would fail at a value that a newer release stored in the same database.
 */
const SERIALIZER_OPTIONS = {
  ...OPTIONS,
  io: 'output',
  override: (context) => {
    OPTIONS.override(context);
    const { zodSchema, jsonSchema: made } = context;
    if (zodSchema._zod.def.type === 'enum' && made.anyOf !== undefined) {
      delete made.anyOf;
      made.type = 'string';
    }
    for (const name of Object.keys(made).filter((each) => BOUND.test(each))) {
      delete made[name];
    }
    // Texts are written as they are; a format of an integer is that of a bigint.
    if (made.type === 'string') {
      delete made.format;
    }
  },
} satisfies z.core.ToJSONSchemaParams;

/** Returns the JSON Schema of a zod schema; a bigint is an int64. Schemas with an `id` are in its `$defs`. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _schema, ...converted } = z.toJSONSchema(schema, { ...OPTIONS, io });
  return converted;
}

/** Returns the JSON Schema by which responses with a zod schema are serialized. */
export function serializerSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _schema, ...converted } = z.toJSONSchema(schema, SERIALIZER_OPTIONS);
  return converted;
}

/** Returns all zod schemas with an `id` by that; they refer to each other by `pathById`. */
export function namedJsonSchemas(pathById: (id: string) => string): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...OPTIONS, io: 'input', uri: pathById });
  return Object.fromEntries(
    Object.entries(schemas)
      // By name, because the order of declaration is that of the imports.
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([id, { $schema: _schema, $id: _id, ...converted }]) => [id, converted]),
  );
}

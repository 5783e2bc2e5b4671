import { z } from 'zod';

/** JSON Schema (draft 2020-12, as OpenAPI 3.1 has it) of a zod schema; a bigint is an int64. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: made }) => {
      if (zodSchema._zod.def.type === 'bigint') {
        Object.assign(made, { type: 'integer', format: 'int64' });
      }
    },
  });
  return converted;
}

import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { KeyOrder } from '../admin/key.schemas.js';
import { Limits } from '../admin/limits.schema.js';
import { planName } from '../admin/plan.schemas.js';
import { keyFault, type KeyEnvironment } from '../auth/api-key.js';
import { InvalidEnvironmentError } from '../environment.js';

const PlanEntry = z.strictObject({ name: planName, ...Limits.shape });

const keyEntry = (environment: KeyEnvironment) =>
  z.strictObject({
    ...KeyOrder.shape,
    key: z
      .string()
      .refine((key) => keyFault(key, environment) === null, `must be an API key of ${environment}`)
      .optional(),
  });

const seedFile = (environment: KeyEnvironment) =>
  z
    .strictObject(
      {
        plans: z.array(PlanEntry).default([]),
        keys: z.array(keyEntry(environment)).default([]),
      },
      { error: 'the file must hold "plans", "keys" or both' },
    )
    .superRefine(({ plans, keys }, context) => {
      for (const [list, entries] of Object.entries({ plans, keys })) {
        const names = entries.map(({ name }) => name);
        names.forEach((name, index) => {
          if (names.indexOf(name) !== index) {
            context.addIssue({
              code: 'custom',
              path: [list, index],
              message: `has the name of another, "${name}"`,
            });
          }
        });
      }
    });

/** What a deployment is seeded with: each entry stands for the plan, or the key, of its name. */
export type SeedFile = z.infer<ReturnType<typeof seedFile>>;

/**
 * Reads a file of plans and keys, in YAML or in JSON, which is YAML.
 *
 * @throws InvalidEnvironmentError that names every fault.
 */
export async function readSeedFile(file: string, environment: KeyEnvironment): Promise<SeedFile> {
  const { data, error } = seedFile(environment).safeParse(await contentOf(file));
  if (error !== undefined) {
    const faults = error.issues.map(({ path, message }) =>
      [`SEED_FILE ${file}:`, path.join('.'), message].join(' '),
    );
    throw new InvalidEnvironmentError(faults.join('\n'));
  }
  return data;
}

async function contentOf(file: string): Promise<unknown> {
  try {
    // Integers as in a request's body, so that the same schemas check them.
    return parse(await readFile(file, 'utf8'), { intAsBigInt: true });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidEnvironmentError(`SEED_FILE ${file} cannot be read: ${reason}`, { cause });
  }
}

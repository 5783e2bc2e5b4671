import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { CreateKeyInput } from '../admin/keys/key.schemas.js';
import { bothOrNone, Limits } from '../admin/plans/limits.schema.js';
import { planName } from '../admin/plans/plan.schemas.js';
import { keyFault, type KeyEnvironment, withoutSecrets } from '../auth/rules/api-key.js';
import { InvalidEnvironmentError } from '../settings/environment.js';

const PlanEntry = z.strictObject({ name: planName, ...Limits.shape });

const keyEntry = (environment: KeyEnvironment) =>
  z
    .strictObject({
      ...CreateKeyInput.shape,
      key: z
        .string()
        .refine((key) => keyFault(key, environment) === null, `must be an API key of ${environment}`)
        .optional(),
    })
    .check(bothOrNone);

/** Checks that names are unique, as two entries of one name would undo each other. */
const uniqueNames = z.superRefine<({ name?: unknown } | null)[]>(
  (entries, context) => {
    const names = entries.map((entry) => entry?.name);
    names.forEach((name, index) => {
      if (typeof name === 'string' && names.indexOf(name) !== index) {
        const message = `has the name of another, "${name}"`;
        context.addIssue({ code: 'custom', path: [index], message });
      }
    });
  },
  // Also runs if an entry is invalid, so that all faults are reported at once.
  { when: ({ value }) => Array.isArray(value) },
);

const seedFile = (environment: KeyEnvironment) =>
  z.strictObject(
    {
      plans: z.array(PlanEntry).check(uniqueNames).default([]),
      keys: z.array(keyEntry(environment)).check(uniqueNames).default([]),
    },
    {
      error: ({ code }) =>
        code === 'invalid_type' ? 'the file must hold "plans", "keys" or both' : undefined,
    },
  );

/** The plans and keys of a deployment, identified by their names. */
export type SeedFile = z.infer<ReturnType<typeof seedFile>>;

/**
 * Reads a file of plans and keys, in YAML or in JSON, which is YAML.
 *
 * @throws InvalidEnvironmentError that lists every fault.
 */
export async function readSeedFile(file: string, environment: KeyEnvironment): Promise<SeedFile> {
  const { data, error } = seedFile(environment).safeParse(await readContent(file));
  if (error !== undefined) {
    const faults = error.issues.map(({ path, message }) =>
      [`SEED_FILE ${file}:`, path.join('.'), message].filter((part) => part !== '').join(' '),
    );
    throw new InvalidEnvironmentError(faults.join('\n'));
  }
  return data;
}

async function readContent(file: string): Promise<unknown> {
  try {
    // BigInt integers, as in the body of a request, so that the same schemas check them. No warnings, because they quote lines, which may
    // contain keys; the schemas report the faults.
    return parse(await readFile(file, 'utf8'), { intAsBigInt: true, logLevel: 'error' });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    // Only the first line: the others quote the file, which may contain keys.
    const reason = withoutSecrets(message.split('\n', 1)[0] ?? '').replace(/:$/, '');
    throw new InvalidEnvironmentError(`SEED_FILE ${file} cannot be read: ${reason}`);
  }
}

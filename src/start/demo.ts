import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@nestjs/common';
import { z } from 'zod';
import { SERVICE } from '../audit/audit.js';
import type { CreateKeyInput } from '../keys/key.schemas.js';
import type { KeyService } from '../keys/key.service.js';
import { BUILT_IN_PLANS, type BuiltInPlan } from '../auth/rules/built-in-plans.js';
import { scopesForRole } from '../auth/rules/scope.js';
import { generateApiKey, findKeyProblem } from '../auth/rules/api-key.js';
import type { PrismaService } from '../database/access/prisma.service.js';
import { ApiError } from '../http/routes/api-error.js';
import { type Environment, InvalidEnvironmentError } from '../process/settings/environment.js';
import { seedPlans } from './plans.js';

/** The limits of a demonstration key on a plan that has none. */
const OWN_LIMITS = { perMinute: 5_000, perDay: 1_000_000 };
/** The key that may issue further keys, and the one that shares its quota. */
export const [ISSUER, ISSUED] = ['business', 'team'] as const;

type DemoKeyInput = Omit<CreateKeyInput, 'quotaId'>;

/** `demo-keys.json` has these names, so the key of a plan with such a name would silently replace another. */
const KEYS_BESIDE_PLANS = {
  admin: { name: 'demo administrator', plan: 'business', role: 'admin' },
  [ISSUED]: { name: 'demo team' },
} satisfies Record<string, DemoKeyInput> & {
  [Name in BuiltInPlan]?: 'Rename the built-in plan: demo-keys.json already has a key of this name.';
};

type DemoKeyName = BuiltInPlan | keyof typeof KEYS_BESIDE_PLANS;

const DEMO_KEY_INPUTS = Object.fromEntries([
  ...Object.entries(BUILT_IN_PLANS).map(([plan, { perMinute }]) => [
    plan,
    {
      name: `demo ${plan}`,
      plan,
      ...(perMinute === null && OWN_LIMITS),
      ...(plan === ISSUER && { scopes: [...scopesForRole('client')] }),
    },
  ]),
  ...Object.entries(KEYS_BESIDE_PLANS),
]) as Record<DemoKeyName, DemoKeyInput>;

const KEY_NAMES = Object.keys(DEMO_KEY_INPUTS) as DemoKeyName[];

export type DemoKeys = Record<DemoKeyName, string>;

const Entries = z.record(z.string(), z.unknown());
type Entries = z.infer<typeof Entries>;

const NAMES = (
  'Biscuit Clover Domino Ember Fern Ginger Hazel Indigo Juniper Kiwi Luna Maple ' +
  'Nutmeg Olive Pepper Quill Rusty Saffron Tango Umber Velvet Willow Xenia Yoyo ' +
  'Ziggy Basil Cocoa Dusty Echo Figaro Goldie Honey Iris Jasper Koda Lotus'
).split(' ');
const STATUSES = ['available', 'available', 'pending', 'sold', null] as const;

const logger = new Logger('Demonstration');

/**
 * Fills the embedded database with the plans, a key for each plan, for an administrator and on the quota of
 * another key, and a few dozen animals. A later run adds only what an earlier version did not. The keys are
 * stored in `demo-keys.json`, which exists for this demonstration only.
 */
export async function seedDemo(
  prisma: PrismaService,
  keys: KeyService,
  { APP_ENV, DATA_DIR }: Pick<Environment, 'APP_ENV' | 'DATA_DIR'>,
): Promise<DemoKeys> {
  await seedPlans(prisma);
  const demoKeys = await storedKeys(path.join(DATA_DIR, 'demo-keys.json'), APP_ENV);
  // An earlier version issued no key on the quota of another.
  const isOfEarlierVersion = !(await keys.exists(demoKeys[ISSUED]));
  const issued: Partial<DemoKeys> = {};
  for (const name of KEY_NAMES) {
    const [input, key] = [DEMO_KEY_INPUTS[name], demoKeys[name]];
    if (!(await keys.exists(key))) {
      const issuer = name === ISSUED ? await keys.find(await keys.findId(demoKeys[ISSUER])) : undefined;
      try {
        await keys.issue({ ...input, quotaId: issuer?.quotaId }, SERVICE, key);
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'conflict')) {
          throw error;
        }
        logger.warn(`The key ${name} was not issued: the quota of ${ISSUER} has as many keys as it may`);
        continue;
      }
    } else if (input.scopes && isOfEarlierVersion) {
      const { id, scopes } = await keys.find(await keys.findId(key));
      if (scopes === null) {
        await keys.update(id, { scopes: input.scopes }, SERVICE);
      }
    }
    issued[name] = key;
  }
  if ((await prisma.pet.count()) === 0) {
    await prisma.pet.createMany({
      data: NAMES.map((name, index) => ({
        name,
        categoryId: BigInt((index % 6) + 1),
        status: STATUSES[index % STATUSES.length] ?? null,
      })),
    });
  }
  return issued as DemoKeys;
}

/**
 * Returns the keys of the file for this environment. Generates missing ones, and writes them before they are
 * issued. Other entries stay, even those of another version.
 */
async function storedKeys(file: string, environment: Environment['APP_ENV']): Promise<DemoKeys> {
  const stored = await readEntries(file);
  const entries = KEY_NAMES.reduce((others, name) => withValidKey(others, name, environment), stored);
  if (!isDeepStrictEqual(entries, stored)) {
    // It is renamed into place, so that a crash leaves no partial file.
    await writeFile(`${file}.new`, `${JSON.stringify(entries, null, 2)}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
  return entries as DemoKeys;
}

/**
 * Returns entries with a valid key of this name. An invalid value, such as a key of another environment, is
 * kept as `NAME replaced N`, and becomes the key again once it is valid.
 */
function withValidKey(entries: Entries, name: string, environment: Environment['APP_ENV']): Entries {
  const isValid = (value: unknown) =>
    typeof value === 'string' && findKeyProblem(value, environment) === null;
  if (isValid(entries[name])) {
    return entries;
  }
  const replaced = (count: number) => `${name} replaced ${count}`;
  let count = 1;
  while (replaced(count) in entries && !isValid(entries[replaced(count)])) {
    count += 1;
  }
  return {
    ...entries,
    ...(name in entries && { [replaced(count)]: entries[name] }),
    [name]: entries[replaced(count)] ?? generateApiKey(environment),
  };
}

/**
 * Returns the entries of the file, if it exists. A file that is not a JSON object is renamed.
 *
 * @throws InvalidEnvironmentError if it cannot be read.
 */
async function readEntries(file: string): Promise<Entries> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
      return {};
    }
    const reason = `${file} cannot be read: ${(cause as Error).message}`;
    throw new InvalidEnvironmentError(`${reason}. Make it readable, or move it away.`, { cause });
  }
  try {
    return Entries.parse(JSON.parse(text));
  } catch {
    const kept = `${file}.unreadable-${Date.now()}`;
    await rename(file, kept);
    logger.warn(`${file} is not a JSON object: it was renamed to ${kept}, and new keys were issued`);
    return {};
  }
}

import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@nestjs/common';
import { SERVICE } from '../audit/audit.js';
import type { CreateKeyInput } from '../keys/key.schemas.js';
import { countValidKeys, VALID_KEYS_MAX } from '../keys/key.repository.js';
import type { KeyService } from '../keys/key.service.js';
import { BUILT_IN_PLANS, type BuiltInPlan } from '../auth/rules/built-in-plans.js';
import { type Scope, scopesForRole } from '../auth/rules/scope.js';
import { generateApiKey, findKeyProblem } from '../auth/rules/api-key.js';
import type { PrismaService } from '../database/access/prisma.service.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import { type Environment, InvalidEnvironmentError } from '../process/settings/environment.js';
import { seedPlans } from './plans.js';

type DemoKeyName = BuiltInPlan | 'admin' | 'team';

/** The limits of a demonstration key on a plan that has none. */
const OWN_LIMITS = { perMinute: 5_000, perDay: 1_000_000 };
/** The key that may issue further keys, and the one that shares its quota. */
const [ISSUER, ISSUED] = ['business', 'team'] as const;

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
  ['admin', { name: 'demo administrator', plan: 'business', role: 'admin' }],
  [ISSUED, { name: 'demo team' }],
]) as Record<DemoKeyName, Omit<CreateKeyInput, 'quotaId'>>;

export type DemoKeys = Record<DemoKeyName, string>;

const NAMES = (
  'Biscuit Clover Domino Ember Fern Ginger Hazel Indigo Juniper Kiwi Luna Maple ' +
  'Nutmeg Olive Pepper Quill Rusty Saffron Tango Umber Velvet Willow Xenia Yoyo ' +
  'Ziggy Basil Cocoa Dusty Echo Figaro Goldie Honey Iris Jasper Koda Lotus'
).split(' ');
const STATUSES = ['available', 'available', 'pending', 'sold', null] as const;

const logger = new Logger('Demonstration');

/**
 * Fills the embedded database with the plans, a key for each plan, for an administrator and on the quota of
 * another key, and a few dozen animals. A second run adds nothing, but one of a later version what an earlier
 * one did not have. The keys are stored in `demo-keys.json`, which exists for this demonstration only.
 */
export async function seedDemo(
  prisma: PrismaService,
  keys: KeyService,
  { APP_ENV, DATA_DIR }: Pick<Environment, 'APP_ENV' | 'DATA_DIR'>,
): Promise<DemoKeys> {
  await seedPlans(prisma);
  const demoKeys = await storedKeys(path.join(DATA_DIR, 'demo-keys.json'), APP_ENV);
  // An earlier version issued no key on the quota of another.
  const isOfEarlierVersion = !(await keys.exists(demoKeys.team));
  const unissued = new Set<string>();
  for (const [name, input] of Object.entries(DEMO_KEY_INPUTS)) {
    const key = demoKeys[name as DemoKeyName];
    if (!(await keys.exists(key))) {
      const quotaId =
        name === ISSUED ? (await keys.find(await keys.findId(demoKeys[ISSUER]))).quotaId : undefined;
      if (quotaId !== undefined && !(await hasRoomForKey(prisma, quotaId))) {
        logger.warn(`The key ${name} was not issued: the quota of ${ISSUER} has as many keys as it may`);
        unissued.add(name);
        continue;
      }
      await keys.issue({ ...input, quotaId }, SERVICE, key);
    } else if (input.scopes && isOfEarlierVersion) {
      await addScopes(prisma, keys, key, input.scopes);
    }
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
  return Object.fromEntries(Object.entries(demoKeys).filter(([name]) => !unissued.has(name))) as DemoKeys;
}

async function hasRoomForKey(prisma: PrismaService, quotaId: string): Promise<boolean> {
  return (await countValidKeys(prisma, quotaId, await readServerTimeMs(prisma))) < VALID_KEYS_MAX;
}

/** Gives a key these scopes, if an earlier version issued it without a list. */
async function addScopes(prisma: PrismaService, keys: KeyService, key: string, scopes: Scope[]) {
  const id = await keys.findId(key);
  if ((await prisma.apiKey.count({ where: { id, scopes: { equals: null } } })) > 0) {
    await keys.update(id, { scopes }, SERVICE);
  }
}

/**
 * Returns the keys of the file for this environment. Generates those that it lacks, and writes them before
 * they are issued. Other entries stay, those that an earlier or a later version wrote too.
 */
async function storedKeys(file: string, environment: Environment['APP_ENV']): Promise<DemoKeys> {
  const stored = await readEntries(file);
  const entries = Object.keys(DEMO_KEY_INPUTS).reduce(
    (others, name) => withValidKey(others, name, environment),
    stored,
  );
  if (!isDeepStrictEqual(entries, stored)) {
    // It is renamed into place, so that a crash leaves no partial file.
    await writeFile(`${file}.new`, `${JSON.stringify(entries, null, 2)}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
  return Object.fromEntries(Object.keys(DEMO_KEY_INPUTS).map((name) => [name, entries[name]])) as DemoKeys;
}

type Entries = Record<string, unknown>;

/**
 * Returns entries with a valid key of this name. A value that is none, such as a key of another environment,
 * is kept as `NAME replaced N`, and is the key again once it is valid.
 */
function withValidKey(entries: Entries, name: string, environment: Environment['APP_ENV']): Entries {
  if (isValidKey(entries[name], environment)) {
    return entries;
  }
  const replaced = (count: number) => `${name} replaced ${count}`;
  let count = 1;
  while (replaced(count) in entries && !isValidKey(entries[replaced(count)], environment)) {
    count += 1;
  }
  return {
    ...entries,
    ...(name in entries && { [replaced(count)]: entries[name] }),
    [name]: entries[replaced(count)] ?? generateApiKey(environment),
  };
}

const isValidKey = (value: unknown, environment: Environment['APP_ENV']) =>
  typeof value === 'string' && findKeyProblem(value, environment) === null;

/**
 * Returns the entries of the file, none if it does not exist. A file that is no JSON object is renamed.
 *
 * @throws InvalidEnvironmentError if it cannot be read.
 */
async function readEntries(file: string): Promise<Entries> {
  const text = await readText(file);
  if (text === null) {
    return {};
  }
  const entries = parseObject(text);
  if (entries === null) {
    const kept = `${file}.unreadable-${Date.now()}`;
    await rename(file, kept);
    logger.warn(`${file} is not a JSON object: it was renamed to ${kept}, and new keys were issued`);
  }
  return entries ?? {};
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const { code, message: reason } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      return null;
    }
    const message = `${file} cannot be read: ${reason}. Make it readable, or move it away.`;
    throw new InvalidEnvironmentError(message, { cause });
  }
}

function parseObject(text: string): Entries | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? (value as Entries | null) : null;
  } catch {
    return null;
  }
}

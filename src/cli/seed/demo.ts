import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { TERMINAL } from '../../audit/audit.js';
import type { CreateKeyInput } from '../../keys/key.schemas.js';
import type { KeyService } from '../../keys/key.service.js';
import { scopesForRole } from '../../auth/rules/scope.js';
import { generateApiKey, findKeyProblem } from '../../auth/rules/api-key.js';
import type { PrismaService } from '../../database/prisma.service.js';
import { type Environment, InvalidEnvironmentError } from '../../settings/environment.js';
import { seedPlans } from './plans.js';

const DEMO_KEY_INPUTS = {
  free: { name: 'demo free', plan: 'free' },
  pro: { name: 'demo pro', plan: 'pro' },
  business: { name: 'demo business', plan: 'business', scopes: [...scopesForRole('client')] },
  enterprise: {
    name: 'demo enterprise',
    plan: 'enterprise',
    perMinute: 5_000,
    perDay: 1_000_000,
  },
  admin: { name: 'demo administrator', plan: 'business', role: 'admin' },
  team: { name: 'demo team' },
} satisfies Record<string, Omit<CreateKeyInput, 'quotaOf'>>;

/** A key of this demonstration that shares the quota of another. */
const QUOTA_OF: Partial<Record<DemoKeyName, DemoKeyName>> = { team: 'business' };

type DemoKeyName = keyof typeof DEMO_KEY_INPUTS;

export type DemoKeys = Record<DemoKeyName, string>;

const DemoKeys = z.record(z.enum(Object.keys(DEMO_KEY_INPUTS) as DemoKeyName[]), z.string());

const NAMES = (
  'Biscuit Clover Domino Ember Fern Ginger Hazel Indigo Juniper Kiwi Luna Maple ' +
  'Nutmeg Olive Pepper Quill Rusty Saffron Tango Umber Velvet Willow Xenia Yoyo ' +
  'Ziggy Basil Cocoa Dusty Echo Figaro Goldie Honey Iris Jasper Koda Lotus'
).split(' ');
const STATUSES = ['available', 'available', 'pending', 'sold', null] as const;

/**
 * Fills the embedded database with the plans, a key for each plan, for an administrator and on the quota of
 * another key, and a few dozen animals. A second run adds nothing. The keys are stored in `demo-keys.json`,
 * which exists for this demonstration only.
 */
export async function seedDemo(
  prisma: PrismaService,
  keys: KeyService,
  { APP_ENV, DATA_DIR }: Pick<Environment, 'APP_ENV' | 'DATA_DIR'>,
): Promise<DemoKeys> {
  await seedPlans(prisma);
  const demoKeys = await storedKeys(path.join(DATA_DIR, 'demo-keys.json'), APP_ENV);
  for (const [name, input] of Object.entries(DEMO_KEY_INPUTS)) {
    const key = demoKeys[name as DemoKeyName];
    if (!(await keys.exists(key))) {
      const quotaOwner = QUOTA_OF[name as DemoKeyName];
      const quotaOf = quotaOwner && (await keys.findId(demoKeys[quotaOwner]));
      await keys.issue({ ...input, quotaOf }, TERMINAL, key);
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
  return demoKeys;
}

/**
 * Returns the keys of the file. If it has none for this environment, generates new ones and writes them
 * before they are issued.
 */
async function storedKeys(file: string, environment: Environment['APP_ENV']): Promise<DemoKeys> {
  const stored = await readKeys(file);
  if (stored !== null && Object.values(stored).every((key) => findKeyProblem(key, environment) === null)) {
    return stored;
  }
  const generated = Object.fromEntries(
    Object.keys(DEMO_KEY_INPUTS).map((name) => [name, generateApiKey(environment)]),
  ) as DemoKeys;
  // It is renamed into place, so that a crash leaves no partial file.
  await writeFile(`${file}.new`, `${JSON.stringify(generated, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return generated;
}

async function readKeys(file: string): Promise<DemoKeys | null> {
  try {
    return DemoKeys.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return null;
    }
    throw new InvalidEnvironmentError(`${file} cannot be read; remove it to get new demonstration keys.`, {
      cause: error,
    });
  }
}

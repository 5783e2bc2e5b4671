import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../admin/audit/audit.js';
import type { KeyService } from '../admin/keys/key.service.js';
import type { PlanService } from '../admin/plans/plan.service.js';
import { hashApiKey } from '../auth/rules/api-key.js';
import type { ApiKey, Prisma } from '../database/generated/client.js';
import { InvalidEnvironmentError } from '../settings/environment.js';
import { ApiError } from '../errors/api-error.js';
import type { SeedFile } from './seed-file.js';

type PlanEntry = SeedFile['plans'][number];
type KeyEntry = SeedFile['keys'][number];

/** The services of administration, in one transaction. */
interface Seeding {
  transaction: Prisma.TransactionClient;
  keys: KeyService;
  plans: PlanService;
  actor: Actor;
}

/**
 * Applies the entries of the file that differ from its last application. Other changes by administrators are kept, and so are plans and
 * keys that the file no longer names.
 *
 * @returns a line for each change. A generated key is shown in its line only.
 * @throws InvalidEnvironmentError that names the entry which cannot be applied.
 */
export async function applySeedFile({ plans, keys }: SeedFile, seeding: Seeding): Promise<string[]> {
  const lines: (string | null)[] = [];
  for (const entry of plans) {
    lines.push(await naming(`plan "${entry.name}"`, applyPlan(entry, seeding)));
  }
  for (const entry of keys) {
    lines.push(await naming(`key "${entry.name}"`, applyKey(entry, seeding)));
  }
  return lines.filter((line) => line !== null);
}

async function naming<Result>(entry: string, applied: Promise<Result>): Promise<Result> {
  try {
    return await applied;
  } catch (error) {
    throw error instanceof ApiError
      ? new InvalidEnvironmentError(`SEED_FILE, ${entry}: ${error.message}`, { cause: error })
      : error;
  }
}

async function applyPlan(
  { name, ...limits }: PlanEntry,
  { transaction, plans, actor }: Seeding,
): Promise<string | null> {
  const subject = `plan:${name}`;
  const seeded = await transaction.seedEntry.findUnique({ where: { subject } });
  if (isDeepStrictEqual(seeded?.content, limits)) {
    return null;
  }
  await plans.set(name, limits, actor);
  await storeEntry(transaction, subject, limits, null);
  return `Plan ${name}: ${limits.perMinute} requests per minute, ${limits.perDay} per day.`;
}

async function applyKey(entry: KeyEntry, seeding: Seeding): Promise<string | null> {
  const { transaction, keys, actor } = seeding;
  const subject = `key:${entry.name}`;
  const seeded = await transaction.seedEntry.findUnique({ where: { subject } });
  const [first, ...successors] = await successionFrom(transaction, seeded?.keyId ?? null);
  const content = toContent(entry);
  const isNew = first === undefined || !hasKey([first, ...successors], entry.key);
  if (isNew && entry.key !== undefined && (await keys.exists(entry.key))) {
    throw new ApiError('conflict', 'This very key was issued before. Give one that never was.');
  }
  const last = successors.at(-1) ?? first;
  if (first === undefined || last === undefined || (isNew && !(await isActive(keys, last)))) {
    const issued = await keys.issue(entry, actor, entry.key);
    await storeEntry(transaction, subject, content, issued.id);
    const shown = entry.key === undefined ? ` The key, shown this once: ${issued.key}` : '';
    return `Key ${entry.name}: issued, ${issued.id}.${shown}`;
  }
  const changed = changedFields(seeded?.content, content);
  if (!isNew && changed.length === 0) {
    return null;
  }
  if (changed.includes('role')) {
    throw new ApiError('conflict', 'Its role stays as it was issued. Give it another name.');
  }
  const { id } = isNew ? await keys.rotate(last.id, entry, actor) : first;
  if (changed.includes('expiresAt') && !isNew) {
    await keys.changeExpiry(last.id, entry.expiresAt ?? null, actor);
  }
  if (changed.some((name) => name !== 'expiresAt')) {
    await keys.changePlan(id, entry, actor);
  }
  await storeEntry(transaction, subject, content, id);
  return `Key ${entry.name}: ${isNew ? 'rotated' : 'changed'}, ${id}.`;
}

/** Returns whether a key can be rotated. If not, the caller issues another key. */
async function isActive(keys: KeyService, { id }: ApiKey): Promise<boolean> {
  return (await keys.find(id)).state === 'active';
}

/** Returns the key that an entry created, and the successors of its later rotations. */
async function successionFrom(transaction: Prisma.TransactionClient, id: string | null): Promise<ApiKey[]> {
  const succession: ApiKey[] = [];
  let next = id === null ? null : await transaction.apiKey.findUnique({ where: { id } });
  while (next !== null) {
    succession.push(next);
    next = await transaction.apiKey.findUnique({ where: { predecessorId: next.id } });
  }
  return succession;
}

/** Returns whether the key of an entry is one of these; true for an entry without a key. */
function hasKey(records: ApiKey[], key: string | undefined): boolean {
  return key === undefined || records.some(({ hash }) => hashApiKey(key).equals(hash));
}

function toContent({ plan, perMinute, perDay, role, expiresAt }: KeyEntry) {
  return {
    plan,
    perMinute: perMinute ?? null,
    perDay: perDay ?? null,
    role: role ?? 'client',
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}

type Content = ReturnType<typeof toContent>;

function changedFields(before: unknown, now: Content): (keyof Content)[] {
  const known = before as Content;
  return (Object.keys(now) as (keyof Content)[]).filter((name) => known[name] !== now[name]);
}

async function storeEntry(
  transaction: Prisma.TransactionClient,
  subject: string,
  content: Prisma.InputJsonObject,
  keyId: string | null,
): Promise<void> {
  const entry = { content, keyId };
  await transaction.seedEntry.upsert({ where: { subject }, create: { subject, ...entry }, update: entry });
}

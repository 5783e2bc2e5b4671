import { isDeepStrictEqual } from 'node:util';
import { TERMINAL } from '../admin/audit.js';
import type { KeyService } from '../admin/key.service.js';
import type { PlanService } from '../admin/plan.service.js';
import { hashApiKey } from '../auth/api-key.js';
import type { Prisma } from '../database/generated/client.js';
import { InvalidEnvironmentError } from '../environment.js';
import { ApiError } from '../errors/api-error.js';
import type { SeedFile } from './seed-file.js';

type PlanEntry = SeedFile['plans'][number];
type KeyEntry = SeedFile['keys'][number];

/** What the file is applied with: the services of administration, within one transaction. */
interface Seeding {
  transaction: Prisma.TransactionClient;
  keys: KeyService;
  plans: PlanService;
}

/**
 * Changes what the file says otherwise than when it was last applied, and nothing else: what an administrator has
 * changed since stays, and so does what the file no longer names.
 *
 * @returns a line for each thing done. A key that was made stands in it, and nowhere else.
 * @throws InvalidEnvironmentError naming the entry that cannot be carried out.
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
  { transaction, plans }: Seeding,
): Promise<string | null> {
  const subject = `plan:${name}`;
  const seeded = await transaction.seedEntry.findUnique({ where: { subject } });
  if (isDeepStrictEqual(seeded?.content, limits)) {
    return null;
  }
  await plans.set(name, limits, TERMINAL);
  await remember(transaction, subject, limits, null);
  return `Plan ${name}: ${limits.perMinute} requests per minute, ${limits.perDay} per day.`;
}

async function applyKey(entry: KeyEntry, seeding: Seeding): Promise<string | null> {
  const { transaction, keys } = seeding;
  const subject = `key:${entry.name}`;
  const seeded = await transaction.seedEntry.findUnique({ where: { subject } });
  const id = seeded?.keyId ?? null;
  const record = id === null ? null : await transaction.apiKey.findUnique({ where: { id } });
  const content = contentOf(entry);
  const isNew = record === null || (entry.key !== undefined && !hashApiKey(entry.key).equals(record.hash));
  if (isNew && entry.key !== undefined && (await keys.knows(entry.key))) {
    throw new ApiError('conflict', 'This very key was issued already, under another name.');
  }
  if (record === null) {
    const issued = await keys.issue(entry, TERMINAL, entry.key);
    await remember(transaction, subject, content, issued.id);
    const made = entry.key === undefined ? ` The key, shown this once: ${issued.key}` : '';
    return `Key ${entry.name}: issued, ${issued.id}.${made}`;
  }
  const changed = changesOf(seeded?.content, content);
  if (!isNew && changed.length === 0) {
    return null;
  }
  if (changed.includes('role') || (changed.includes('expiresAt') && !isNew)) {
    const message =
      'Its role stays as it was issued, and its expiry changes only with the key. Give it another name, or a new key.';
    throw new ApiError('conflict', message);
  }
  const { id: nowId } = isNew ? await keys.rotate(record.id, entry, TERMINAL) : record;
  if (changed.some((name) => name !== 'expiresAt')) {
    await keys.changePlan(nowId, entry, TERMINAL);
  }
  await remember(transaction, subject, content, nowId);
  return `Key ${entry.name}: ${isNew ? `rotated, ${nowId}` : `changed, ${nowId}`}.`;
}

function contentOf({ plan, perMinute, perDay, role, expiresAt }: KeyEntry) {
  return {
    plan,
    perMinute: perMinute ?? null,
    perDay: perDay ?? null,
    role: role ?? 'client',
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}

type Content = ReturnType<typeof contentOf>;

function changesOf(before: unknown, now: Content): (keyof Content)[] {
  const known = before as Content;
  return (Object.keys(now) as (keyof Content)[]).filter((name) => known[name] !== now[name]);
}

async function remember(
  transaction: Prisma.TransactionClient,
  subject: string,
  content: Prisma.InputJsonObject,
  keyId: string | null,
): Promise<void> {
  const entry = { content, keyId };
  await transaction.seedEntry.upsert({ where: { subject }, create: { subject, ...entry }, update: entry });
}

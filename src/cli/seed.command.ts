import type { Actor } from '../audit/audit.js';
import { findKeyProblem } from '../auth/rules/api-key.js';
import { whereValid } from '../auth/key-validity.js';
import type { Database } from '../database/access/in-transaction.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import { KeyService } from '../keys/key.service.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { requireUtf8 } from '../database/access/server-encoding.js';
import { ENVIRONMENT, type Environment, InvalidEnvironmentError } from '../process/settings/environment.js';
import { seedPlans } from '../start/plans.js';
import { changeCommand, type ChangeOptions } from './command.js';
import { linesText } from './output/text.js';

const ADMINISTRATOR = { name: 'administrator', plan: 'business', role: 'admin' } as const;
/** Arbitrary, and the same in all processes. */
const LOCK = 7_446_220_112;

/** `seed`, and `npx prisma db seed`: seeds in one transaction, after any that another process seeds. */
export const seedCommand = changeCommand(
  'seed',
  "create the plans and the first administrator's key (ADMIN_API_KEY)",
).run(async (services, { as }: ChangeOptions) => {
  const prisma = services.get(PrismaService);
  await requireUtf8(prisma.pools.queries);
  const { plans, line, ...administrator } = await prisma.$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK})`;
    const names = await seedPlans(transaction);
    const keys = services.get(KeyService).within(transaction);
    const environment = services.get<Environment>(ENVIRONMENT);
    const seeded = await seedAdministrator(transaction, keys, environment, as);
    return { plans: names, ...seeded };
  });
  return { value: { plans, administrator }, text: () => linesText('The plans exist.', line) };
});

/**
 * Issues an administrator's key if there is no valid one: ADMIN_API_KEY if it is set, else a generated key.
 *
 * @throws InvalidEnvironmentError if ADMIN_API_KEY is not a key of this environment, or was issued before and
 *   is not a valid administrator's key.
 */
export async function seedAdministrator(
  database: Database,
  keys: KeyService,
  { ADMIN_API_KEY: given, APP_ENV }: Pick<Environment, 'ADMIN_API_KEY' | 'APP_ENV'>,
  actor: Actor,
) {
  const problem = given === undefined ? null : findKeyProblem(given, APP_ENV);
  if (problem !== null) {
    throw new InvalidEnvironmentError(
      problem === 'malformed'
        ? 'ADMIN_API_KEY is malformed; check that it was copied whole'
        : `ADMIN_API_KEY is a key for another environment; APP_ENV is ${APP_ENV}`,
    );
  }
  const isIssued = given !== undefined && (await keys.exists(given));
  const nowMs = await readServerTimeMs(database);
  const administrators = await database.apiKey.count({ where: { role: 'admin', ...whereValid(nowMs) } });
  if (administrators > 0) {
    const line =
      given === undefined || isIssued
        ? 'There is an administrator already.'
        : 'There is an administrator already: ADMIN_API_KEY was not used.';
    return { created: false, keyId: null, key: null, line };
  }
  if (isIssued) {
    throw new InvalidEnvironmentError(
      "ADMIN_API_KEY is a client's key, or was revoked or has expired; give one that was never used",
    );
  }
  const { id: keyId, key } = await keys.issue(ADMINISTRATOR, actor, given);
  return given === undefined
    ? { created: true, keyId, key, line: `The administrator's key, shown this once: ${key}` }
    : { created: true, keyId, key: null, line: "ADMIN_API_KEY is the administrator's key." };
}

import { type IssuedKey, KeyService } from '../auth/key.service.js';
import type { PrismaService } from '../database/prisma.service.js';
import type { Environment } from '../environment.js';

/** Any number that all processes agree on: who holds this lock may look for an administrator and make one. */
const LOCK = 7_446_220_112;

/**
 * Issues the first administrator's key.
 *
 * @returns null when there is an administrator already, revoked or not.
 */
export async function seedAdministrator(
  prisma: PrismaService,
  environment: Pick<Environment, 'APP_ENV'>,
): Promise<IssuedKey | null> {
  return prisma.$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK})`;
    if ((await transaction.apiKey.count({ where: { role: 'admin' } })) > 0) {
      return null;
    }
    const keys = new KeyService(transaction, environment);
    return keys.issue({ name: 'administrator', plan: 'business', role: 'admin' });
  });
}

import type { Actor } from '../admin/audit.js';
import type { KeyService } from '../admin/key.service.js';
import { keyFault } from '../auth/api-key.js';
import type { Clock } from '../clock.js';
import type { Database } from '../database/in-transaction.js';
import { type Environment, InvalidEnvironmentError } from '../environment.js';

const ORDER = { name: 'administrator', plan: 'business', role: 'admin' } as const;

/**
 * Issues an administrator's key where there is none that is valid: the one given, else a new one.
 *
 * @returns what there is to say of it.
 * @throws InvalidEnvironmentError when the key given is none of this environment, or can be no administrator's any more.
 */
export async function seedAdministrator(
  database: Database,
  keys: KeyService,
  clock: Clock,
  { ADMIN_API_KEY: given, APP_ENV }: Pick<Environment, 'ADMIN_API_KEY' | 'APP_ENV'>,
  actor: Actor,
): Promise<string> {
  const fault = given === undefined ? null : keyFault(given, APP_ENV);
  if (fault !== null) {
    throw new InvalidEnvironmentError(
      fault === 'malformed'
        ? 'ADMIN_API_KEY is malformed; check that it was copied whole'
        : `ADMIN_API_KEY is a key for another environment; APP_ENV is ${APP_ENV}`,
    );
  }
  const known = given !== undefined && (await keys.exists(given));
  const now = new Date(clock.now());
  const isUnexpired = [{ expiresAt: null }, { expiresAt: { gt: now } }];
  const administrators = await database.apiKey.count({
    where: { role: 'admin', revokedAt: null, OR: isUnexpired },
  });
  if (administrators > 0) {
    return given === undefined || known
      ? 'There is an administrator already.'
      : 'There is an administrator already: ADMIN_API_KEY was not used.';
  }
  if (known) {
    throw new InvalidEnvironmentError(
      "ADMIN_API_KEY is a client's key, or was revoked or has expired; give one that was never used",
    );
  }
  const { key } = await keys.issue(ORDER, actor, given);
  return given === undefined
    ? `The administrator's key, shown this once: ${key}`
    : "ADMIN_API_KEY is the administrator's key.";
}

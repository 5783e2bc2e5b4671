import { SERVICE } from '../../../src/audit/audit.js';
import type { IssuedKey, CreateKeyInput } from '../../../src/keys/key.schemas.js';
import { KeyService } from '../../../src/keys/key.service.js';
import { openServices } from '../../../src/cli/services.js';
import { readEnvironment } from '../../../src/process/settings/environment.js';
import type { TestDatabase } from '../database/database.js';
import { patiently } from '../database/patience.js';

/** The plan and limits of a key that no test exhausts. */
export const UNLIMITED = { plan: 'enterprise', perMinute: 10_000_000, perDay: 100_000_000 } as const;

/** Issues a key without a running application. */
export async function issueKey(
  { url }: Pick<TestDatabase, 'url'>,
  input: Partial<CreateKeyInput> = {},
  key?: string,
): Promise<IssuedKey> {
  const services = await openServices(readEnvironment({ APP_ENV: 'staging', DATABASE_URL: url }));
  try {
    const keys = services.get(KeyService);
    return await patiently(() => keys.issue({ name: 'test', plan: 'free', ...input }, SERVICE, key));
  } finally {
    await services.close();
  }
}

/** Gives a quota so many more keys, which nobody has. */
export function addKeys(database: TestDatabase, quotaId: string, count: number): Promise<unknown> {
  return database.query(
    `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
     SELECT gen_random_uuid(), $1, 'many', sha256(gen_random_uuid()::text::bytea), 'ask_test_', '0000'
     FROM generate_series(1, $2)`,
    [quotaId, count],
  );
}

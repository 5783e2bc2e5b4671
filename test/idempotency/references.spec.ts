import { DiscoveryService } from '@nestjs/core';
import { COLUMNS } from '../../src/database/generated/columns.js';
import { CreationBatcher } from '../../src/idempotency/creation-batcher.js';
import { shareApplication } from '../support/service/application.js';

/** The service sets it, from the key. */
const OWN_REFERENCE = 'quota_id';

const store = shareApplication();

describe('CreationBatcher', () => {
  it('checks each record to which a row that clients create refers', async () => {
    const providers = store.app.get(DiscoveryService, { strict: false }).getProviders();
    const resources = new Set(
      providers
        .flatMap(({ instance }) => Object.values<unknown>({ ...(instance as object | null) }))
        .filter((each) => each instanceof CreationBatcher)
        .map((batcher) => batcher['resource']),
    );
    const references = await store.database.query<{ table: string; column: string; target: string }>(`
      SELECT conrelid::regclass::text AS table, attname::text AS column, confrelid::regclass::text AS target
      FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
      WHERE contype = 'f'`);
    expect(resources.size).toBeGreaterThan(1);
    const lines = [...resources].flatMap(({ table, reference }) =>
      references
        .filter((each) => each.table === table && each.column !== OWN_REFERENCE)
        .map(({ column, target }) => ({
          field: COLUMNS.find(({ relation, name }) => relation === table && name === column)?.field,
          target,
        }))
        .filter(({ field, target }) => reference?.field !== field || reference?.table !== target)
        .map(
          ({ field, target }) =>
            `reference: { field: '${field}', table: '${target}', noun: '…' }, beside table: '${table}'`,
        ),
    );
    expect(lines).toStrictEqual([]);
  });
});

import { AuditCleanup } from '../../src/audit/audit.cleanup.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { useApplication } from '../support/service/application.js';
import { DAY_MS } from '../support/time/clock.js';

const store = useApplication();

const insert = (...daysAgo: number[]) =>
  store.database.query(
    `INSERT INTO audit_events (created_at, actor, action, subject, after)
     SELECT statement_timestamp() - make_interval(days => days), 'service', 'plan.updated', 'plan:free', '{}'
     FROM unnest($1::int[]) AS days`,
    [daysAgo],
  );
const countEvents = async () =>
  (await store.database.query<{ count: number }>('SELECT count(*)::int FROM audit_events'))[0]?.count;
const deleteExpired = (AUDIT_RETENTION: number | undefined) =>
  new AuditCleanup(store.app.get(PrismaService), { AUDIT_RETENTION }).deleteExpired();

describe('AUDIT_RETENTION', () => {
  beforeEach(async () => {
    await deleteExpired(0);
    await insert(400, 366, 364, 0);
  });

  it('deletes the events that are older', async () => {
    expect(await deleteExpired(365 * DAY_MS)).toBe(false);
    expect(await countEvents()).toBe(2);
  });

  it('keeps all events for ever if it is not set', async () => {
    await deleteExpired(undefined);
    expect(await countEvents()).toBe(4);
  });

  it('leaves the audit append only for every other statement', async () => {
    await deleteExpired(365 * DAY_MS);
    await expect(store.database.query('DELETE FROM audit_events')).rejects.toThrow('append only');
  });
});

import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { hold } from '../support/database/holding.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { useAdministration } from '../support/keys/administration.js';
import { UNLIMITED } from '../support/keys/keys.js';

const SCOPES = ['pets:read', 'orders:read', 'keys:write'];
/** More than any pool has connections, and than they serve in time if each waits for a lock for a second. */
const MANY = 20;

const admin = useAdministration();

const issueHolder = () => admin.issue({ ...UNLIMITED, scopes: SCOPES });
const call = async ({ key }: IssuedKey, request: string, body?: unknown) => {
  const [method = '', path = ''] = request.split(' ');
  return send(admin.store.url + path, { method, key, body });
};
const pool = () => admin.store.app.get(PrismaService).pools.transactions;

/** Sends requests that wait for a lock, one of each sender in the database, and runs `work` meanwhile. */
async function whileWaiting(
  sends: (() => Promise<unknown>)[],
  lock: string,
  inDatabase: number,
  work: () => Promise<void>,
): Promise<void> {
  const holder = await hold(admin.store.database.url, lock);
  const waiting = sends.flatMap((each) => Array.from({ length: MANY }, each));
  try {
    await eventually(() => expectLocksWaitedFor(admin.store.database, inDatabase));
    await work();
  } finally {
    await holder.letGo();
    await Promise.all(waiting);
  }
  expect(pool().pendingCount).toBe(0);
  // A transaction may be rolled back after the response.
  await eventually(async () => expect(pool().totalCount - pool().idleCount).toBe(0));
}

async function expectAdministration(): Promise<void> {
  const other = await admin.issue();
  for (const request of ['GET /admin/keys', 'GET /admin/plans', `POST /admin/keys/${other.id}/revoke`]) {
    expect(await admin.send(request)).toMatchObject({ status: 200 });
  }
}

describe('requests of one quota that wait for each other', () => {
  it.each([
    ['POST /v1/key/rotate', {}],
    ['POST /v1/keys', { name: 'team' }],
  ])('delay neither administrators nor other quotas: %s', async (request, body) => {
    const [busy, other] = [await issueHolder(), await issueHolder()];
    const lock = `SELECT FROM quotas WHERE id = '${busy.quotaId}' FOR UPDATE`;
    await whileWaiting([() => call(busy, request, body)], lock, 1, async () => {
      await expectAdministration();
      for (const own of ['GET /v1/key', 'GET /v1/keys', 'GET /v1/usage?by=key']) {
        expect(await call(other, own)).toMatchObject({ status: 200 });
      }
      expect(await call(other, 'POST /v1/keys', { name: 'team' })).toMatchObject({ status: 201 });
      expect(await call(other, 'POST /v1/key/rotate', {})).toMatchObject({ status: 201 });
    });
  });

  it('hold one connection, and are counted while they wait for it', async () => {
    const [busy, other] = [await issueHolder(), await issueHolder()];
    const list = () => call(busy, 'GET /v1/store/orders');
    await whileWaiting([list], 'LOCK TABLE orders IN ACCESS EXCLUSIVE MODE', 1, async () => {
      await eventually(async () => expect(pool().pendingCount).toBe(MANY - 1));
      expect(await call(other, 'GET /v1/keys')).toMatchObject({ status: 200 });
      await expectAdministration();
    });
  });

  it('leave a connection to administrators, however many quotas there are', async () => {
    const lists = Array.from({ length: 4 }, async () => {
      const holder = await issueHolder();
      return () => call(holder, 'GET /v1/store/orders');
    });
    const sends = await Promise.all(lists);
    await whileWaiting(sends, 'LOCK TABLE orders IN ACCESS EXCLUSIVE MODE', 2, expectAdministration);
  });

  it('get 503 once they have waited too long, and leave the connection to the next', async () => {
    const busy = await issueHolder();
    const holder = await hold(admin.store.database.url, 'LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
    const statuses = Array.from({ length: 3 }, async () => (await call(busy, 'GET /v1/store/orders')).status);
    try {
      expect(await Promise.race(statuses)).toBe(503);
      await eventually(async () => expect(pool().pendingCount).toBe(0));
    } finally {
      await holder.letGo();
    }
    expect((await Promise.all(statuses)).toSorted((one, other) => one - other)).toEqual([200, 503, 503]);
    expect(await call(busy, 'GET /v1/store/orders')).toMatchObject({ status: 200 });
  });
});

describe('reads by administrators', () => {
  it('leave a connection to their changes', async () => {
    const { quotaId } = await admin.issue();
    const read = () => admin.send('GET /admin/audit');
    await whileWaiting([read], 'LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE', 2, async () => {
      expect(await admin.send(`POST /admin/quotas/${quotaId}/unban`)).toMatchObject({ status: 200 });
    });
  });
});

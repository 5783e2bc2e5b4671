import pg from 'pg';
import { BUILT_IN_PLANS } from '../../dist/auth/rules/built-in-plans.js';
import { KeyService } from '../../dist/keys/key.service.js';
import { PlanService } from '../../dist/keys/plan.service.js';

const ADMINISTRATOR = 'terminal:ann';
const DAY_MS = 86_400_000;
const SHOPS = [
  { name: 'Corner Pet Shop', plan: 'pro', note: 'Ann Miller, +49 30 555 0100' },
  { name: 'Happy Paws', plan: 'business' },
  { name: 'Aquarium World', plan: 'pro', expiresInDays: 9 },
  { name: 'City Zoo Supplies', plan: 'business', note: 'Trial until the end of the year' },
  { name: 'Feather & Fin', plan: 'free' },
  { name: 'Noah’s Barn', plan: 'free' },
  { name: 'Reptile House', plan: 'pro' },
];
const ANIMALS = [
  'Bella',
  'Max',
  'Luna',
  'Charlie',
  'Lucy',
  'Cooper',
  'Nemo',
  'Rocky',
  'Daisy',
  'Milo',
  'Coco',
  'Ruby',
];
const STATUSES = ['available', 'pending', 'sold'];
const PERIODS = {
  minute: { count: 60, scale: 4 },
  hour: { count: 48, scale: 120 },
  day: { count: 32, scale: 2200 },
};
/** The same pictures each time need the same numbers. */
const HISTORY = `
  INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated,
    succeeded, redirected, client_errors, server_errors, denied, last_request_at)
  SELECT key.id, key.quota_id, $1,
    date_trunc($1::text, now(), 'UTC') - n * ('1 ' || $1)::interval,
    operation, operation = 'getPet', total, total / 9, total / 25 + refused, total / 400, refused,
    now() - position * interval '4 minutes'
  FROM (SELECT *, row_number() OVER (ORDER BY id) AS position FROM api_keys WHERE role = 'client') key,
    generate_series(1, $2) n,
    (VALUES ('listPets', 3.0), ('createPet', 1.0), ('listOrders', 0.5), ('getPet', 0.3))
      operations (operation, weight),
    LATERAL (
      SELECT
        ($3 * weight * (1.4 + sin((n + position) / 4.0)) * (1 + (position * 7 + n * 5) % 4) / position)::int
    ) t (total),
    LATERAL (SELECT CASE WHEN (n + position) % 7 = 0 THEN total / 6 ELSE 0 END) r (refused)`;

/**
 * Fills an empty store with plans, keys, animals, orders and a month of usage.
 *
 * @returns the key of a shop and that of an administrator.
 */
export async function fillStore(app, databaseUrl) {
  const [plans, keys, url] = [app.get(PlanService), app.get(KeyService), await app.getUrl()];
  for (const [name, limits] of Object.entries(BUILT_IN_PLANS)) {
    if (limits.perMinute !== null) {
      await plans.set(name, limits, ADMINISTRATOR);
    }
  }
  const administrator = await keys.issue({ name: 'Ann', plan: 'business', role: 'admin' }, ADMINISTRATOR);
  const [shop, , , , , old] = await issueKeys(keys);
  await keys.rotate(old.id, {}, ADMINISTRATOR);
  await sell(url, shop.key);
  await addHistory(databaseUrl);
  return { shop, administrator };
}

async function issueKeys(keys) {
  const issued = [];
  for (const { expiresInDays, ...shop } of SHOPS) {
    const expiresAt = expiresInDays === undefined ? undefined : new Date(Date.now() + expiresInDays * DAY_MS);
    issued.push(await keys.issue({ ...shop, expiresAt }, ADMINISTRATOR));
  }
  return issued;
}

async function sell(url, key) {
  const post = (path, body) =>
    fetch(`${url}/v1${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const [index, name] of ANIMALS.entries()) {
    await post('/pets', { name, categoryId: (index % 4) + 1, status: STATUSES[index % 3] });
  }
  for (let petId = 1; petId <= 8; petId += 1) {
    await post('/store/orders', { petId, quantity: (petId % 3) + 1 });
  }
}

async function addHistory(databaseUrl) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  for (const [period, { count, scale }] of Object.entries(PERIODS)) {
    await client.query(HISTORY, [period, count, scale]);
  }
  await client.end();
}

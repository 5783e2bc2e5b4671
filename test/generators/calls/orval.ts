import { getHealth, getPlan, issueKey, listAudit, listUsage } from '../.generated/orval/admin-openapi';
import { getRateLimit, listOrders, listPets } from '../.generated/orval/openapi';

/** Calls one operation of each tag, by the clients of orval, which have the address in them; returns their statuses by tag. */
export async function callEachTag(_address: string, key: string): Promise<Record<string, number>> {
  const options = { headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' } };
  const pets = await listPets({ limit: 1 }, options);
  const name = pets.status === 200 ? pets.data[0]?.name : undefined;
  const orders = await listOrders({}, options);
  const limits = await getRateLimit(options);
  const keys = await issueKey({ name: name ?? 'test', plan: 'free' }, options);
  const plans = await getPlan('free', options);
  const usage = await listUsage({}, options);
  const audit = await listAudit({}, options);
  const health = await getHealth(options);
  return {
    pets: pets.status,
    store: orders.status,
    limits: limits.status,
    keys: keys.status,
    plans: plans.status,
    usage: usage.status,
    audit: audit.status,
    health: health.status,
  };
}

import { getHealth, getPlan, issueKey, listAudit, listUsage } from '../.generated/hey-api/admin-openapi';
import { createClient as createAdministrationClient } from '../.generated/hey-api/admin-openapi/client';
import { getRateLimit, listOrders, listPets } from '../.generated/hey-api/openapi';
import { createClient as createStoreClient } from '../.generated/hey-api/openapi/client';

/** Calls one operation of each tag, by the clients of @hey-api/openapi-ts; returns their statuses by tag. */
export async function callEachTag(address: string, key: string): Promise<Record<string, number | undefined>> {
  const store = createStoreClient({ baseUrl: `${address}/v1`, auth: key });
  const administration = createAdministrationClient({ baseUrl: address, auth: key });
  const pets = await listPets({ client: store, query: { limit: 1 } });
  const name: string | undefined = pets.data?.[0]?.name;
  const orders = await listOrders({ client: store });
  const limits = await getRateLimit({ client: store });
  const keys = await issueKey({ client: administration, body: { name: name ?? 'test', plan: 'free' } });
  const plans = await getPlan({ client: administration, path: { plan: 'free' } });
  const usage = await listUsage({ client: administration });
  const audit = await listAudit({ client: administration });
  const health = await getHealth({ client: administration });
  return {
    pets: pets.response?.status,
    store: orders.response?.status,
    limits: limits.response?.status,
    keys: keys.response?.status,
    plans: plans.response?.status,
    usage: usage.response?.status,
    audit: audit.response?.status,
    health: health.response?.status,
  };
}

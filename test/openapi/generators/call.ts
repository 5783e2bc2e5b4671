import {
  getHealth,
  getPlan,
  issueKey,
  listAuditEvents,
  listUsageByKey,
  listWebhooks,
} from './.generated/admin-openapi';
import { createClient as createAdministrationClient } from './.generated/admin-openapi/client';
import { getRateLimit, listOrders, listPets } from './.generated/openapi';
import { createClient as createStoreClient } from './.generated/openapi/client';

declare const process: { argv: string[]; stdout: { write(text: string): void } };

/** Calls one operation of each tag, by the generated clients; returns their statuses by tag. */
async function callEachTag(address: string, key: string): Promise<Record<string, number | undefined>> {
  const store = createStoreClient({ baseUrl: `${address}/v1`, auth: key });
  const administration = createAdministrationClient({ baseUrl: address, auth: key });
  const pets = await listPets({ client: store, query: { limit: 1 } });
  const name: string | undefined = pets.data?.[0]?.name;
  const orders = await listOrders({ client: store });
  const limits = await getRateLimit({ client: store });
  const keys = await issueKey({ client: administration, body: { name: name ?? 'test', plan: 'free' } });
  const plans = await getPlan({ client: administration, path: { plan: 'free' } });
  const usage = await listUsageByKey({ client: administration });
  const webhooks = await listWebhooks({ client: administration });
  const audit = await listAuditEvents({ client: administration });
  const health = await getHealth({ client: administration });
  return {
    pets: pets.response?.status,
    store: orders.response?.status,
    limits: limits.response?.status,
    keys: keys.response?.status,
    plans: plans.response?.status,
    usage: usage.response?.status,
    webhooks: webhooks.response?.status,
    audit: audit.response?.status,
    health: health.response?.status,
  };
}

const [, , address = '', key = ''] = process.argv;
void callEachTag(address, key).then((statuses) => process.stdout.write(JSON.stringify(statuses)));

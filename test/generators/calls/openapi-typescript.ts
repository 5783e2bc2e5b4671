import createClient from 'openapi-fetch';
import type { paths as AdministrationPaths } from '../.generated/openapi-typescript/admin-openapi';
import type { paths as StorePaths } from '../.generated/openapi-typescript/openapi';

/** Calls one operation of each tag, by the types of openapi-typescript; returns their statuses by tag. */
export async function callEachTag(address: string, key: string): Promise<Record<string, number>> {
  const headers = { Authorization: `Bearer ${key}` };
  const store = createClient<StorePaths>({ baseUrl: `${address}/v1`, headers });
  const administration = createClient<AdministrationPaths>({ baseUrl: address, headers });
  const pets = await store.GET('/pets', { params: { query: { limit: 1 } } });
  const name: string | undefined = pets.data?.[0]?.name;
  const orders = await store.GET('/store/orders');
  const limits = await store.GET('/rate-limit');
  const keys = await administration.POST('/admin/keys', { body: { name: name ?? 'test', plan: 'free' } });
  const plans = await administration.GET('/admin/plans/{plan}', { params: { path: { plan: 'free' } } });
  const usage = await administration.GET('/admin/usage');
  const audit = await administration.GET('/admin/audit');
  const health = await administration.GET('/admin/health');
  return {
    pets: pets.response.status,
    store: orders.response.status,
    limits: limits.response.status,
    keys: keys.response.status,
    plans: plans.response.status,
    usage: usage.response.status,
    audit: audit.response.status,
    health: health.response.status,
  };
}

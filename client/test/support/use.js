// A program that uses the client in any runtime.

export async function use({ AnimalStore, NotFoundError }, baseUrl, apiKey) {
  const store = new AnimalStore({ baseUrl, apiKey, onDeprecation: () => {} });
  const created = await store.pets.create({ name: 'Anywhere', categoryId: 9_223_372_036_854_775_807n });
  let walked = 0;
  for await (const { id } of store.pets.list()) {
    walked += id === created.id ? 1 : 0;
  }
  const parallel = await Promise.all(Array.from({ length: 20 }, () => store.pets.list({ limit: 1 })));
  const { status, rateLimit } = await store.pets.list({ limit: 1 }).withResponse();
  const error = await store.pets.get(Number.MAX_SAFE_INTEGER).catch((reason) => reason);
  return {
    categoryId: String(created.categoryId),
    walked,
    parallel: parallel.length,
    status,
    windows: rateLimit.map(({ name }) => name),
    isNotFound: error instanceof NotFoundError,
    code: error.code,
  };
}

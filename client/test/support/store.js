import assert from 'node:assert/strict';
import { AnimalStore, AnimalStoreError } from 'animal-store-client';

const { ANIMAL_STORE_URL: url, ANIMAL_STORE_ADMIN_KEY: adminKey } = process.env;

/** The address of the service that `run.js` has started. */
export const baseUrl = `${url}/v1`;

const PLENTY = { perMinute: 1_000_000, perDay: 1_000_000 };

/** Issues a key with these limits. */
export async function issueKey(limits = PLENTY) {
  return administer('POST', '/admin/keys', { name: 'client', plan: 'enterprise', ...limits });
}

/** Raises the limits of a key, and waits until they apply. */
export async function makeRoom({ quotaId, key }) {
  await administer('PATCH', `/admin/quotas/${quotaId}`, PLENTY);
  let remaining;
  do {
    const response = await fetch(`${baseUrl}/rate-limit`, { headers: { Authorization: `Bearer ${key}` } });
    remaining = (await response.json()).windows[0].remaining;
  } while (remaining === 0);
}

/** Returns a client with a new key. */
export async function connect(options = {}) {
  const { key } = await issueKey();
  return new AnimalStore({ baseUrl, apiKey: key, ...options });
}

/**
 * Returns a `fetch` that records each request and response. `respond` may return a response in place of the
 * service.
 */
export function recordingFetch(respond = async () => undefined) {
  const requests = [];
  const responses = [];
  const record = async (request) => {
    requests.push(request.clone());
    const response = (await respond(request, requests.length)) ?? (await fetch(request));
    responses.push(response.clone());
    return response;
  };
  return { fetch: record, requests, responses };
}

/** Returns a `pause` that records its durations, and only takes the time of `meanwhile`. */
export function recordingPause(meanwhile = async () => undefined) {
  const waits = [];
  const pause = async (ms) => {
    waits.push(ms);
    await meanwhile(ms);
  };
  return { pause, waits };
}

/** Returns an error response of the service or a proxy. */
export function errorResponse(status, code, headers = {}) {
  return new Response(JSON.stringify({ code, message: `It is ${code}.`, status }), { status, headers });
}

/** Returns the `AnimalStoreError` of a call. */
export async function catchError(call) {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof AnimalStoreError, error.stack);
    return error;
  }
  return assert.fail('It succeeded');
}

/** Returns all items of a walk. */
export async function collect(walk) {
  const all = [];
  for await (const item of walk) {
    all.push(item);
  }
  return all;
}

async function administer(method, path, body) {
  const headers = { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' };
  const init = { method, headers, body: JSON.stringify(body) };
  const response = await fetch(url + path, init);
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return response.json();
}

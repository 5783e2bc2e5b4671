import assert from 'node:assert/strict';
import { AnimalStore, AnimalStoreError } from 'animal-store-client';

const { ANIMAL_STORE_URL: url, ANIMAL_STORE_ADMIN_KEY: adminKey } = process.env;

/** The address of the service that `run.js` has started. */
export const baseUrl = `${url}/v1`;

const PLENTY = { perMinute: 1_000_000, perDay: 1_000_000 };

/** A new key on a quota of its own, with these numbers. */
export async function issueKey(limits = PLENTY) {
  return administer('POST', '/admin/keys', { name: 'client', plan: 'enterprise', ...limits });
}

/** Gives a key plenty of room, and waits until that holds. */
export async function makeRoom({ id, key }) {
  await administer('PATCH', `/admin/keys/${id}`, { plan: 'enterprise', ...PLENTY });
  let remaining;
  do {
    const response = await fetch(`${baseUrl}/rate-limit`, { headers: { Authorization: `Bearer ${key}` } });
    remaining = (await response.json()).windows[0].remaining;
  } while (remaining === 0);
}

/** A client with a key of its own. */
export async function connect(options = {}) {
  const { key } = await issueKey();
  return new AnimalStore({ baseUrl, apiKey: key, ...options });
}

/** A `fetch` that keeps a copy of each request and response, and may answer in place of the service. */
export function recordingFetch(answer = async () => undefined) {
  const requests = [];
  const responses = [];
  const record = async (request) => {
    requests.push(request.clone());
    const response = (await answer(request, requests.length)) ?? (await fetch(request));
    responses.push(response.clone());
    return response;
  };
  return { fetch: record, requests, responses };
}

/** A `pause` that keeps how long it was told to take, and takes no time but what `meanwhile` does. */
export function recordingPause(meanwhile = async () => undefined) {
  const waits = [];
  const pause = async (ms) => {
    waits.push(ms);
    await meanwhile(ms);
  };
  return { pause, waits };
}

/** An error as the service, or what stands before it, answers it. */
export function errorResponse(status, code, headers = {}) {
  return new Response(JSON.stringify({ code, message: `It is ${code}.`, status }), { status, headers });
}

/** The `AnimalStoreError` that a call ends with. */
export async function errorOf(call) {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof AnimalStoreError, error.stack);
    return error;
  }
  return assert.fail('It succeeded');
}

/** All that a walk gives. */
export async function everyOneOf(walk) {
  const all = [];
  for await (const item of walk) {
    all.push(item);
  }
  return all;
}

async function administer(method, path, body) {
  const headers = { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' };
  const order = { method, headers, body: JSON.stringify(body) };
  const response = await fetch(url + path, order);
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return response.json();
}

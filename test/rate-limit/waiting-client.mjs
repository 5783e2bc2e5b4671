// `node waiting-client.mjs got|ky URL KEY REQUESTS IN_FLIGHT`: a client whose HTTP library waits and retries.
// Sends REQUESTS requests, IN_FLIGHT at once, and prints their statuses.

import { got } from 'got';
import ky from 'ky';

const [library, url, key, requests, inFlight] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };
/** Enough retries of the library for every request to succeed. */
const limit = 20;

const send = {
  got: async () => (await got(url, { headers, retry: { limit } })).statusCode,
  ky: async () => (await ky(url, { headers, retry: { limit }, timeout: false })).status,
}[library];

const statuses = [];
let sent = 0;
await Promise.all(
  Array.from({ length: Number(inFlight) }, async () => {
    while (sent < Number(requests)) {
      sent += 1;
      statuses.push(await send());
    }
  }),
);
console.log(JSON.stringify(statuses));

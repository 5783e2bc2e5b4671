// Prints what needs attention in the limits of a key, and exits with 1 if anything does. Run it once a
// minute: GET /v1/rate-limit is not counted.

import { AnimalStore } from 'animal-store-client';

/** The share of a window that should remain. */
const RESERVE = 0.2;

const store = new AnimalStore({
  baseUrl: process.env.ANIMAL_STORE_URL ?? 'http://127.0.0.1:3000/v1',
  apiKey: process.env.ANIMAL_STORE_KEY,
});
const { plan, windows, denialsUntilBan, bannedUntil } = await store.rateLimit.get();

const short = windows.filter(({ limit, remaining }) => remaining < RESERVE * limit);
const warnings = short.map(({ name, limit, remaining, reset }) => {
  const end = new Date(reset * 1000).toISOString();
  return `${remaining} of ${limit} requests remain in this ${name}, until ${end}. Slow down.`;
});
if (bannedUntil !== null) {
  warnings.push(`Banned until ${bannedUntil}. Wait for Retry-After of each 429.`);
} else if (denialsUntilBan !== null && denialsUntilBan <= RESERVE * windows[0].limit) {
  warnings.push(`${denialsUntilBan} more denied requests in this minute start a ban.`);
}

const isFine = warnings.length === 0;
process.stdout.write(`${isFine ? `Plan ${plan}: no limit is near.` : warnings.join('\n')}\n`);
process.exitCode = isFine ? 0 : 1;

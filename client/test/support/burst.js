// One of several processes with the same key: makes parallel calls, and prints the responses as JSON.

import { AnimalStore } from 'animal-store-client';

const { ANIMAL_STORE_URL: baseUrl, ANIMAL_STORE_KEY: apiKey, CALLS } = process.env;

const responses = [];
const store = new AnimalStore({
  baseUrl,
  apiKey,
  onResponse: ({ status, headers }) => {
    responses.push({ status, reset: Number(headers.get('X-RateLimit-Reset')) });
  },
});
const calls = Array.from({ length: Number(CALLS) }, () => store.pets.list({ limit: 1 }));
const results = await Promise.allSettled(calls);
const errors = results.flatMap(({ reason }) => (reason === undefined ? [] : [String(reason)]));
process.stdout.write(JSON.stringify({ responses, errors }));

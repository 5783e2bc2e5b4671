import type { DemoKeys } from './demo.js';

/** Returns what the embedded default prints once it listens: its pages, the keys of the demonstration, and a first request. */
export function welcome(address: string, keys: DemoKeys): string {
  return `
Animal Store listens on ${address}, with a PostgreSQL of its own.
  console     ${address}/console
  reference   ${address}/docs
  health      ${address}/readyz

${keyList(keys)}

Try it:
  curl -i -H 'Authorization: Bearer ${keys.free}' '${address}/v1/pets?limit=3'

`;
}

/**
 * Returns the keys of the demonstration, a line each.
 *
 * @public `npm run dev` prints them too.
 */
export function keyList(keys: DemoKeys): string {
  const lines = Object.entries(keys).map(([name, key]) => `  ${name.padEnd(11)} ${key}`);
  return ['Keys of this demonstration, one for each plan:', ...lines].join('\n');
}

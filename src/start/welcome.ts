import { type DemoKeys, ISSUED, ISSUER } from './demo.js';

/**
 * Returns what the service prints once it listens: its pages in one line, because logs are read by line; in
 * the demonstration, lines for a person with keys and a first request.
 */
export function welcome(address: string, metricsPort: number | null, keys: DemoKeys | null): string {
  const metrics = Object.assign(new URL('/metrics', address), { port: String(metricsPort) });
  const pages = Object.entries({
    console: `${address}/console`,
    reference: `${address}/docs`,
    health: `${address}/readyz`,
    ...(metricsPort !== null && { metrics: metrics.href }),
  });
  if (keys === null) {
    const list = pages.map(([name, url]) => `${name} ${url}`).join(', ');
    return `Animal Store listens on ${address}, ${list}\n`;
  }
  return `
Animal Store listens on ${address}, with its embedded PostgreSQL.
${pages.map(([name, url]) => `  ${name.padEnd(11)} ${url}`).join('\n')}

${keyList(keys)}

Try it:
  curl -i -H 'Authorization: Bearer ${keys.free}' '${address}/v1/pets?limit=3'

`;
}

/** @public `npm run dev` prints them too. */
export function keyList(keys: DemoKeys): string {
  const lines = Object.entries(keys).map(([name, key]) => `  ${name.padEnd(11)} ${key}`);
  return [
    'Keys of this demonstration, one for each plan. ' +
      `The key ${ISSUER} may issue further keys, such as ${ISSUED}:`,
    ...lines,
  ].join('\n');
}

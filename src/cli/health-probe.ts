import { Agent, get, type IncomingMessage } from 'node:http';
import { isIPv6, type LookupFunction } from 'node:net';
import { text } from 'node:stream/consumers';
import { loadEnvFile } from '../process/settings/env-file.js';

/** Whether the process responds; whether the replica can serve requests. */
export const HEALTH_PATHS = ['livez', 'readyz'] as const;
export type HealthPath = (typeof HEALTH_PATHS)[number];

/** The service responds within two seconds, even if its database hangs. */
const RESPONSE_TIMEOUT_MS = 5000;

/**
 * Requests a health path of the service on this machine, and prints the response. Unless that is 2xx, prints
 * to standard error and sets exit code 1. Containers run it every few seconds, so it imports nothing that
 * takes time to load; `fetch` alone would double its CPU time.
 */
export async function probeHealth(path: HealthPath): Promise<void> {
  const faults: string[] = [];
  loadEnvFile('.env', faults);
  const { HOST, PORT } = process.env;
  const host = connectableHost(HOST);
  const port = Number(PORT || 3000);
  try {
    const response = await request({ host, port, path: `/${path}` });
    const { statusCode = 0 } = response;
    const line = `${statusCode} ${await text(response)}`;
    if (statusCode >= 200 && statusCode <= 299) {
      process.stdout.write(`${line}\n`);
    } else {
      fail(line);
    }
  } catch (error) {
    const address = `http://${isIPv6(host) ? `[${host}]` : host}:${port}/${path}`;
    const [cause] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
    fail(...faults, `${address} does not respond: ${(cause as Error).message}`);
  }
}

function fail(...reasons: string[]): void {
  process.stderr.write(`${reasons.join('\n')}\n`);
  process.exitCode = 1;
}

/** Returns the host by which a program connects to the service, which may listen on every address. */
function connectableHost(host: string | undefined): string {
  const isAny = host === undefined || host === '' || host === '::';
  return isAny ? 'localhost' : host === '0.0.0.0' ? '127.0.0.1' : host;
}

/** Both addresses of `localhost`, which the hosts file of a machine may lack. */
const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
const lookupLoopback: LookupFunction = (_host, _options, callback) => callback(null, LOOPBACK);

/** Sends a request directly, whatever proxy this machine's programs use. */
function request(place: { host: string; port: number; path: string }): Promise<IncomingMessage> {
  const options = {
    ...place,
    ...(place.host === 'localhost' && { lookup: lookupLoopback, autoSelectFamily: true }),
    agent: new Agent(),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  };
  return new Promise((resolve, reject) => {
    get(options, resolve).on('error', reject);
  });
}

import { get, type IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { text } from 'node:stream/consumers';
import { loadEnvFile } from '../settings/env-file.js';
import { EXIT_FAILURE } from './exit-codes.js';

/** Whether the process responds; whether the replica can serve requests. */
export const HEALTH_PATHS = ['livez', 'readyz'] as const;
export type HealthPath = (typeof HEALTH_PATHS)[number];

/** The service responds within two seconds, even if its database hangs. */
const DEADLINE_MS = 5000;

export const isHealthPath = (word: string | undefined): word is HealthPath =>
  HEALTH_PATHS.some((path) => path === word);

/**
 * Requests a health path of the service on this machine, and prints the response. Unless that is 2xx, prints
 * to standard error and sets exit code 1. Containers run it every few seconds, so it imports nothing that
 * takes time to load; `fetch` alone would double its CPU time.
 */
export async function probeHealth(path: HealthPath): Promise<void> {
  const faults: string[] = [];
  loadEnvFile('.env', faults);
  const address = `${serviceAddress()}/${path}`;
  try {
    const response = await request(address);
    const { statusCode = 0 } = response;
    const line = `${statusCode} ${await text(response)}`;
    if (statusCode >= 200 && statusCode <= 299) {
      process.stdout.write(`${line}\n`);
    } else {
      fail(line);
    }
  } catch (error) {
    fail(...faults, `${address} does not respond: ${(error as Error).message}`);
  }
}

function fail(...reasons: string[]): void {
  process.stderr.write(`${reasons.join('\n')}\n`);
  process.exitCode = EXIT_FAILURE;
}

/** Returns where the service listens. An address for all is no address to connect to. */
function serviceAddress(): string {
  const { HOST = '', PORT } = process.env;
  const host = ['', '0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${PORT || 3000}`;
}

function request(address: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(address, { signal: AbortSignal.timeout(DEADLINE_MS) }, resolve).on('error', reject);
  });
}

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { interruption } from './interruption.js';

const SCRIPT = path.join(import.meta.dirname, 'wrk.lua');

/**
 * Loads a server as fast as it answers.
 *
 * @param {string} url
 * @param {{ workload: string, connections: number, seconds: number, files: { keys: string, cursors: string },
 *   animals: number, seed: number }} load
 * @returns requests per second, and how many were answered.
 * @throws Error when a request was answered with anything but success, or not at all.
 */
export async function runWrk(url, { workload, connections, seconds, files, animals, seed }) {
  const { stdout } = await promisify(execFile)(
    'wrk',
    [
      '--threads=1',
      '--timeout=30s',
      `--connections=${connections}`,
      `--duration=${seconds}s`,
      `--script=${SCRIPT}`,
      url,
      '--',
      ...[workload, files.keys, files.cursors, animals, seed].map(String),
    ],
    { signal: interruption },
  );
  const said = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  if (said.refused + said.broken > 0 || said.requests === 0) {
    throw new Error(
      `Of ${said.requests} requests (${workload}) ${said.refused} were refused and ${said.broken} had no answer`,
    );
  }
  return { perSecond: (said.requests / said.durationUs) * 1e6, requests: said.requests };
}

// `npm run prove`: tries to break what docs/proof.md claims.

import { readOptions } from './options.js';
import { Refusal } from './refusal.js';
import { requirePrograms } from './requirements.js';
import { runProof } from './run.js';

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => interruption.abort(new Refusal('it was interrupted')));
}

async function main(): Promise<boolean> {
  try {
    const options = readOptions(process.argv.slice(2));
    requirePrograms(options.store);
    return await runProof(options, interruption.signal);
  } catch (error) {
    const text = error instanceof Refusal ? error.message : (error as Error).stack;
    process.stderr.write(`${text}\n`);
    return false;
  }
}

// What a failed start left open would keep the process.
void main().then((isProven) => process.exit(isProven ? 0 : 1));

// `npm run prove`: tries to break what docs/proof.md claims.

import { readOptions } from './options.js';
import { Refusal } from './refusal.js';
import { requirePrograms } from './requirements.js';
import { runProof } from './run.js';

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => interruption.abort(new Refusal('it was interrupted')));
}

async function main(): Promise<void> {
  try {
    const options = readOptions(process.argv.slice(2));
    requirePrograms(options.store);
    process.exitCode = (await runProof(options, interruption.signal)) ? 0 : 1;
  } catch (error) {
    const text = error instanceof Refusal ? error.message : (error as Error).stack;
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  }
}

void main();

// `npm run bench:growth`: how the service alone fares as everything around it grows.

import { parseArgs } from 'node:util';
import { interruption } from '../interruption.js';
import { isThere, sharing } from '../machine.js';
import { openStage } from '../stage.js';
import { overCatalogue } from './catalogue.js';
import { overConnections } from './connections.js';
import { overKeys } from './keys.js';
import { overReplicas } from './replicas.js';

const SIZES = [100, 1000, 10_000, 100_000, 1_000_000];
const USUAL = { animals: 100_000, keys: 10_000 };

const SECTIONS = {
  connections: { title: 'Over connections', stages: [USUAL], measure: overConnections },
  keys: { title: 'Over keys', stages: [{ ...USUAL, keys: 100_000 }], measure: overKeys },
  catalogue: {
    title: 'Over the size of the catalogue',
    stages: SIZES.map((animals) => ({ ...USUAL, animals })),
    measure: overCatalogue,
  },
  replicas: { title: 'Over processes', stages: [USUAL], measure: overReplicas },
};

async function main() {
  const { only, rounds, seconds } = parseArgs({
    options: {
      only: { type: 'string', default: Object.keys(SECTIONS).join(',') },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
    },
  }).values;
  if (!isThere('wrk')) {
    throw new Error(
      'The load comes from wrk, which is not installed: `apt-get install wrk`, or `brew install wrk`.',
    );
  }
  const effort = { rounds: Number(rounds), seconds: Number(seconds) };
  process.stdout.write(
    `# Growth\n\nNode ${process.version}; ${sharing}; 64 connections; the mix, unless told otherwise.\n`,
  );
  for (const name of only.split(',')) {
    await run(SECTIONS[name], effort);
  }
}

async function run({ title, stages, measure }, effort) {
  process.stdout.write(`\n## ${title}\n`);
  for (const needs of stages) {
    interruption.throwIfAborted();
    const stage = await openStage(needs);
    try {
      process.stdout.write(`\n${await measure(stage, effort)}\n`);
    } finally {
      await stage.close();
    }
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${interruption.aborted ? 'Interrupted' : error.stack}\n`);
  process.exitCode = interruption.aborted ? 130 : 1;
}

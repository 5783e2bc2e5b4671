// `npm run bench:growth`: how the service alone fares as everything around it grows.

import { interruption, runToEnd } from '../interruption.js';
import { requireWrk, sharing } from '../machine.js';
import { readGrowthOptions } from '../options.js';
import { openStage } from '../stage.js';
import { goalTable } from '../table.js';
import { overCatalogue } from './catalogue.js';
import { overConnections } from './connections.js';
import { overKeys } from './keys.js';
import { overReplicas } from './replicas.js';

const KEYS = { usual: 10_000, many: 100_000 };

const SECTIONS = {
  connections: { title: 'Over connections', measure: onStage(overConnections, KEYS.usual) },
  keys: { title: 'Over keys', measure: onStage(overKeys, KEYS.many) },
  catalogue: { title: 'Over the size of the catalogue, requests/s', measure: overCatalogue },
  replicas: { title: 'Over processes', measure: onStage(overReplicas, KEYS.usual) },
};

async function main() {
  const { only, ...effort } = readGrowthOptions(process.argv.slice(2), Object.keys(SECTIONS));
  requireWrk();
  process.stdout.write(
    `# Growth\n\nNode ${process.version}; ${sharing}; 64 connections; the mix, unless told otherwise.\n`,
  );
  const reached = [];
  for (const name of only) {
    interruption.throwIfAborted();
    const { title, measure } = SECTIONS[name];
    const { text, goals } = await measure(effort);
    process.stdout.write(`\n## ${title}\n\n${text}\n`);
    reached.push(...goals);
  }
  if (reached.length > 0) {
    process.stdout.write(`\n## Goals\n\n${goalTable(reached)}\n`);
  }
}

function onStage(measure, keys) {
  return async (effort) => {
    const stage = await openStage({ animals: 100_000, keys });
    try {
      return await measure(stage, effort);
    } finally {
      await stage.close();
    }
  };
}

await runToEnd(main);

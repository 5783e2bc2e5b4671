// `npm run bench:growth`: how the service alone fares as everything around it grows.

import { describeCircumstances, readCircumstances } from '../circumstances.js';
import { interruption, runToEnd } from '../interruption.js';
import { requireWrk } from '../machine.js';
import { readGrowthOptions } from '../options.js';
import { publish, splitAtMarks } from '../publication.js';
import { openStage } from '../stage.js';
import { goalTable } from '../table.js';
import { overCatalogue } from './catalogue.js';
import { overConnections } from './connections.js';
import { overKeys } from './keys.js';
import { overReplicas } from './replicas.js';

const REPORT = 'growth';
const KEYS = { usual: 10_000, many: 100_000 };

const SECTIONS = {
  connections: { title: 'Over connections', measure: onStage(overConnections, KEYS.usual) },
  keys: { title: 'Over keys', measure: onStage(overKeys, KEYS.many) },
  catalogue: { title: 'Over the size of the catalogue, requests/s', measure: overCatalogue },
  replicas: { title: 'Over processes', measure: onStage(overReplicas, KEYS.usual) },
};

const say = (text) => process.stderr.write(`${text}\n`);

async function main() {
  const { only, into, ...effort } = readGrowthOptions(process.argv.slice(2), Object.keys(SECTIONS));
  requireWrk();
  if (into !== undefined) {
    await splitAtMarks(into, REPORT);
  }
  const circumstances = await readCircumstances();
  const texts = [describeCircumstances(circumstances), way(effort)];
  const seen = {};
  const reached = [];
  for (const name of only) {
    interruption.throwIfAborted();
    const { title, measure } = SECTIONS[name];
    say(title);
    const section = await measure(effort);
    texts.push(`### ${title}\n\n${section.text}`);
    seen[name] = section.seen;
    reached.push(...section.goals);
  }
  if (reached.length > 0) {
    texts.push(`### Goals\n\n${goalTable(reached)}`);
  }
  const figures = { effort, circumstances, seen, goals: reached };
  const file = await publish(REPORT, { text: `${texts.join('\n\n')}\n`, figures }, into);
  say(`Also in ${file}`);
}

const way = ({ rounds, seconds }) =>
  `The service alone, at 64 connections and the mix unless told otherwise. Rounds: ${rounds}, ${seconds} s for each figure, which is their median.`;

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

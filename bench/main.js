// `npm run bench`: measures the service and its peers, one after another, round after round.

import { readCircumstances } from './circumstances.js';
import { CONTESTANTS } from './contestants.js';
import { judgeGoals } from './goals.js';
import { runToEnd } from './interruption.js';
import { isThere, requireWrk } from './machine.js';
import { readOptions } from './options.js';
import { publish, splitAtMarks } from './publication.js';
import { Refusal } from './refusal.js';
import { report } from './report.js';
import { playRounds } from './rounds.js';
import { openStage } from './stage.js';

const REPORT = 'bench';
const ANIMALS = 100_000;
const KEYS = 10_000;

const say = (text) => process.stderr.write(`${text}\n`);

async function main() {
  const { into, ...asked } = readOptions(process.argv.slice(2));
  requireWrk();
  if (into !== undefined) {
    await splitAtMarks(into, REPORT);
  }
  const options = isThere('redis-server') ? asked : withoutRedis(asked);
  const redis = options.only.some((name) => CONTESTANTS[name].counterStore !== undefined);
  const circumstances = await readCircumstances();
  say('Preparing the data');
  const stage = await openStage({ animals: ANIMALS, keys: KEYS, redis });
  try {
    const facts = { options, circumstances, ...(await playRounds(stage, options, say)) };
    const goals = judgeGoals(facts);
    const file = await publish(REPORT, { text: report(facts, goals), figures: { ...facts, goals } }, into);
    say(`Also in ${file}`);
  } finally {
    await stage.close();
  }
}

/** @throws Refusal when nobody else was asked for. */
function withoutRedis(options) {
  const only = options.only.filter((name) => CONTESTANTS[name].counterStore === undefined);
  if (only.length < options.only.length) {
    say('redis-server is not installed (`apt-get install redis-server`): nobody counts in Redis.');
  }
  if (only.length === 0) {
    throw new Refusal('--only names nobody else.');
  }
  return { ...options, only };
}

await runToEnd(main);

// `npm run bench`: measures the service and its peers, one after another, round after round.

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CONTESTANTS } from './contestants.js';
import { judgeGoals } from './goals.js';
import { runToEnd } from './interruption.js';
import { isThere, requireWrk, sharing } from './machine.js';
import { readOptions } from './options.js';
import { Refusal } from './refusal.js';
import { report } from './report.js';
import { playRounds } from './rounds.js';
import { openStage } from './stage.js';

const RESULTS_DIR = path.join(import.meta.dirname, 'results');
const ANIMALS = 100_000;
const KEYS = 10_000;

const say = (text) => process.stderr.write(`${text}\n`);

async function main() {
  const asked = readOptions(process.argv.slice(2));
  requireWrk();
  const options = isThere('redis-server') ? asked : withoutRedis(asked);
  const redis = options.only.some((name) => CONTESTANTS[name].counterStore !== undefined);
  say('Preparing the data');
  const stage = await openStage({ animals: ANIMALS, keys: KEYS, redis });
  try {
    const facts = { options, sharing, ...(await playRounds(stage, options, say)) };
    const goals = judgeGoals(facts);
    process.stdout.write(report(facts, goals));
    await mkdir(RESULTS_DIR, { recursive: true });
    const file = path.join(
      RESULTS_DIR,
      `${new Date().toISOString().replace(/\..*/, '').replaceAll(':', '-')}.json`,
    );
    await writeFile(file, `${JSON.stringify({ ...facts, goals }, null, 2)}\n`);
    say(`Also in ${path.relative(process.cwd(), file)}`);
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

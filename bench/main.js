// `npm run bench`: measures the service and its peers, one after another, round after round.

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startEmbeddedPostgres } from '../dist/embedded-postgres/embedded-postgres.js';
import { findPostmaster } from '../dist/embedded-postgres/postmaster-pid.js';
import { CONTESTANTS } from './contestants.js';
import { ANIMALS, prepareData } from './data.js';
import { isThere, keepOffServerCore, sharing } from './machine.js';
import { OptionError, readOptions } from './options.js';
import { report } from './report.js';
import { takeTurn } from './turn.js';

const DATA_DIR = path.join(import.meta.dirname, '.data');
const RESULTS_DIR = path.join(import.meta.dirname, 'results');
const CURSORS = 10_000;

const say = (text) => process.stderr.write(`${text}\n`);

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (!isThere('wrk')) {
    throw new OptionError(
      'The load comes from wrk, which is not installed: apt-get install wrk (or brew install wrk).',
    );
  }
  keepOffServerCore(process.pid);
  const postgres = await startEmbeddedPostgres(DATA_DIR);
  try {
    const { pid: postgresPid } = await findPostmaster(path.join(DATA_DIR, 'postgres'));
    keepOffServerCore(postgresPid);
    say(`${sharing}\nPreparing the data …`);
    const { keys, urls } = await prepareData(postgres.url, options.only);
    const turns = await takeTurns(options, { keys, urls, postgresPid });
    await mkdir(RESULTS_DIR, { recursive: true });
    const name = new Date().toISOString().replaceAll(':', '-').slice(0, 19);
    await writeFile(
      path.join(RESULTS_DIR, `${name}.json`),
      `${JSON.stringify({ options, turns }, null, 2)}\n`,
    );
    process.stdout.write(report(options, turns));
  } finally {
    await postgres.stop();
  }
}

/** All rounds. A round is everybody's turn, so what disturbs the machine for a while disturbs all. */
async function takeTurns(options, { keys, urls, postgresPid }) {
  const turns = Object.fromEntries(options.only.map((name) => [name, []]));
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const name of options.only) {
      say(`Round ${round} of ${options.rounds}: ${CONTESTANTS[name].title}`);
      const turn = await takeTurn(CONTESTANTS[name], {
        options,
        round,
        keys,
        files: await writeFiles(keys, CONTESTANTS[name]),
        databaseUrl: urls[name],
        postgresPid,
        halfLoad: null,
      });
      turns[name].push(turn);
    }
  }
  return turns;
}

/** What wrk reads: keys, and random places in the list as the contestant names them. */
async function writeFiles(keys, { cursorOf }) {
  const files = { keys: path.join(DATA_DIR, 'keys.txt'), cursors: path.join(DATA_DIR, 'cursors.txt') };
  const cursors = Array.from({ length: CURSORS }, () => cursorOf(Math.floor(Math.random() * (ANIMALS - 20))));
  await writeFile(files.keys, keys.join('\n'), { mode: 0o600 });
  await writeFile(files.cursors, cursors.join('\n'));
  return files;
}

try {
  await main();
} catch (error) {
  say(error instanceof OptionError ? error.message : error.stack);
  process.exitCode = 1;
}

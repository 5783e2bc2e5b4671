import { CONTESTANTS } from '../contestants.js';
import { copyTemplate } from '../data.js';
import { goalOf } from '../goals.js';
import { canPin, moveToCores, OTHER_CORES } from '../machine.js';
import { startServer } from '../server.js';
import { writeCursors } from '../stage.js';
import { ratioOf } from '../statistics.js';
import { table } from '../table.js';
import { runWrk } from '../wrk.js';
import { byName, inRounds, speedCell, speedsOf } from './rounds.js';

const WARM_UP_SECONDS = 10;
const CONNECTIONS = 64;
/** How many times as fast two are to be. */
const LEAST = 1.6;

/** What there is to be, and the cores that all of it has: processes, PostgreSQL and load alike. */
const CASES = [
  { processes: 1, cores: '0' },
  { processes: 2, cores: '0,1' },
];

/**
 * The mix, over processes on one database. Twice the processes get twice the machine, PostgreSQL and load included; else it
 * would be these that are measured.
 */
export async function overReplicas(stage, { rounds, seconds }) {
  await writeCursors(stage, CONTESTANTS.service);
  let seen;
  try {
    seen = await inRounds(rounds, CASES, async (one) => ({ perSecond: await speedOf(stage, one, seconds) }));
  } finally {
    share(stage, OTHER_CORES);
  }
  const [alone, two] = seen.map(speedsOf);
  const ratio = ratioOf(two, alone);
  const rows = CASES.map(({ processes }, index) => [
    String(processes),
    canPin ? String(processes) : 'any',
    speedCell(seen[index]),
  ]);
  return {
    text: table(['>processes', '>cores for all', '>requests/s'], rows),
    seen: byName(
      CASES.map(({ processes }) => processes),
      seen,
    ),
    goals: [
      goalOf(
        'two processes on two cores, of one on one',
        `≥ ${LEAST}`,
        ratio.median.toFixed(2),
        ratio.median >= LEAST,
      ),
    ],
  };
}

async function speedOf(stage, { processes, cores }, seconds) {
  share(stage, cores);
  const databaseUrl = await copyTemplate(stage.serverUrl);
  const servers = [];
  try {
    for (let number = 0; number < processes; number += 1) {
      servers.push(
        await startServer(CONTESTANTS.service, stage.keys[0], { DATABASE_URL: databaseUrl }, cores),
      );
    }
    const run = async (duration) => {
      const { files, animals } = stage;
      const load = {
        files,
        animals,
        workload: 'mix',
        connections: CONNECTIONS / processes,
        seconds: duration,
      };
      const results = await Promise.all(
        servers.map(({ url }, index) => runWrk(url, { ...load, seed: index + 1 })),
      );
      return results.reduce((sum, { perSecond }) => sum + perSecond, 0);
    };
    await run(WARM_UP_SECONDS);
    return await run(seconds);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Moves PostgreSQL, and the load with this process. */
function share({ postgresPid }, cores) {
  moveToCores(cores, postgresPid);
  moveToCores(cores, process.pid);
}

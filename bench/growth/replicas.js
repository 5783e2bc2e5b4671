import { CONTESTANTS } from '../contestants.js';
import { copyTemplate } from '../data.js';
import { canPin, moveToCores, OTHER_CORES } from '../machine.js';
import { startServer } from '../server.js';
import { median } from '../statistics.js';
import { table } from '../table.js';
import { runWrk } from '../wrk.js';

const WARM_UP_SECONDS = 5;
const CONNECTIONS = 64;

/** What there is to be, and the cores that all of it has: processes, PostgreSQL and load alike. */
const CASES = [
  { processes: 1, cores: '0' },
  { processes: 2, cores: '0,1' },
];

/**
 * The mix, over processes on one database. Twice the processes get twice the machine, PostgreSQL and load included; else it
 * would be they that are measured.
 */
export async function overReplicas(stage, { rounds, seconds }) {
  const speeds = CASES.map(() => []);
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const [index, one] of CASES.entries()) {
        speeds[index].push(await speedOf(stage, one, seconds, round));
      }
    }
  } finally {
    share(stage, OTHER_CORES);
  }
  const [alone] = speeds;
  return table(
    ['>processes', '>cores', '>requests/s', '>times one'],
    CASES.map(({ processes }, index) => [
      String(processes),
      canPin ? String(processes) : 'any',
      Math.round(median(speeds[index])).toLocaleString('en'),
      median(speeds[index].map((speed, round) => speed / alone[round])).toFixed(2),
    ]),
  );
}

async function speedOf(stage, { processes, cores }, seconds, seed) {
  const databaseUrl = await copyTemplate(stage.serverUrl);
  share(stage, cores);
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
        seed,
        workload: 'mix',
        connections: CONNECTIONS / processes,
        seconds: duration,
      };
      const results = await Promise.all(servers.map(({ url }) => runWrk(url, load)));
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

import { ANIMALS, checkpoint } from './data.js';
import { runAtFixedRate } from './fixed-rate.js';
import { cpuUs, cpuUsOfTree, residentBytes } from './processes.js';
import { checkAnswers } from './same-answers.js';
import { startServer } from './server.js';
import { runWrk } from './wrk.js';

export const MODERATE_PER_SECOND = 500;

/**
 * One contestant's turn in one round: started, warmed up, measured at everything, ended.
 *
 * @returns what was measured; of each load by `workload connections`.
 */
export async function takeTurn(
  contestant,
  { options, round, keys, files, databaseUrl, postgresPid, env, halfLoad },
) {
  const { workloads, connections, seconds, warmUpSeconds } = options;
  await checkpoint(databaseUrl);
  const server = await startServer(contestant, keys[0], { DATABASE_URL: databaseUrl, ...env });
  try {
    if (round === 1) {
      await checkAnswers(contestant, server.url, keys[0], databaseUrl);
    }
    const load = { files, animals: ANIMALS, seed: round };
    const warmUp = (workload, count, duration) =>
      runWrk(server.url, { ...load, workload, connections: count, seconds: duration });
    await warmUp('mix', Math.max(...connections), 1 + warmUpSeconds);
    const loads = {};
    for (const count of connections) {
      for (const workload of workloads) {
        if (warmUpSeconds > 0) {
          await warmUp(workload, count, warmUpSeconds);
        }
        const before = { server: cpuUs(server.pid), postgres: cpuUsOfTree(postgresPid) };
        const { perSecond, requests } = await runWrk(server.url, {
          ...load,
          workload,
          connections: count,
          seconds,
        });
        loads[`${workload} ${count}`] = {
          perSecond,
          serverUs: before.server === null ? null : (cpuUs(server.pid) - before.server) / requests,
          postgresUs:
            before.postgres === null ? null : (cpuUsOfTree(postgresPid) - before.postgres) / requests,
        };
      }
    }
    const atFixedRate = (perSecond) => runAtFixedRate(server.url, { perSecond, seconds, files });
    return {
      loads,
      startMs: server.startMs,
      moderate: await atFixedRate(MODERATE_PER_SECOND),
      half: halfLoad === null ? null : await atFixedRate(halfLoad),
      memoryBytes: residentBytes(server.pid),
    };
  } catch (cause) {
    throw new Error(`${contestant.title}: ${cause.message}\n${server.complaints()}`, { cause });
  } finally {
    await server.stop();
  }
}

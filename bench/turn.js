import { countAnimals } from './data.js';
import { runAtFixedRate } from './fixed-rate.js';
import { measure } from './measure.js';
import { residentBytes } from './processes.js';
import { checkAnswers } from './same-answers.js';
import { startServer } from './server.js';

export const MODERATE_PER_SECOND = 500;

/**
 * One contestant's turn in one round: started, warmed up, measured at everything, ended.
 *
 * @param contestant one of CONTESTANTS.
 * @param stage what all turns of this run share, and the database of this one.
 * @returns what was measured; of each load by `workload connections`.
 */
export async function takeTurn(contestant, stage) {
  const { options, round, keys, databaseUrl, redisUrl, halfLoad } = stage;
  const env = { DATABASE_URL: databaseUrl };
  if (contestant.counterStore !== undefined) {
    env[contestant.counterStore] = redisUrl;
  }
  const server = await startServer(contestant, keys[0], env);
  try {
    if (round === 1) {
      await checkAnswers(contestant, server.url, keys[0], databaseUrl);
    }
    const loads = await measureLoads(contestant, server, stage);
    const atFixedRate = (perSecond) =>
      runAtFixedRate(server.url, { perSecond, seconds: options.seconds, keys });
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

async function measureLoads(contestant, server, stage) {
  const { workloads, connections, seconds, startWarmUpSeconds, warmUpSeconds } = stage.options;
  const run = (workload, count, duration) =>
    measure(server, stage, { workload, connections: count, seconds: duration });
  await run('mix', Math.max(...connections), startWarmUpSeconds);
  const loads = {};
  for (const count of connections) {
    for (const workload of workloads.filter((name) => contestant.workloads?.includes(name) ?? true)) {
      if (warmUpSeconds > 0) {
        await run(workload, count, warmUpSeconds);
      }
      const measured = () => run(workload, count, seconds);
      loads[`${workload} ${count}`] =
        workload === 'create' ? await withProof(stage.databaseUrl, measured) : await measured();
    }
  }
  return loads;
}

/** @throws Error when fewer animals were added than requests were answered. */
async function withProof(databaseUrl, measured) {
  const before = await countAnimals(databaseUrl);
  const load = await measured();
  const added = (await countAnimals(databaseUrl)) - before;
  if (added < load.requests) {
    throw new Error(`${load.requests} creations were answered, and ${added} animals added`);
  }
  return load;
}

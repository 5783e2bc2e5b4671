import { countAnimals } from './data.js';
import { runAtFixedRate } from './fixed-rate.js';
import { cpuUs, cpuUsOfTree, residentBytes } from './processes.js';
import { checkAnswers } from './same-answers.js';
import { startServer } from './server.js';
import { runWrk } from './wrk.js';

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
  const run = (load) =>
    runWrk(server.url, { files: stage.files, animals: stage.animals, seed: stage.round, ...load });
  await run({ workload: 'mix', connections: Math.max(...connections), seconds: startWarmUpSeconds });
  const loads = {};
  for (const count of connections) {
    for (const workload of workloads.filter((name) => contestant.workloads?.includes(name) ?? true)) {
      if (warmUpSeconds > 0) {
        await run({ workload, connections: count, seconds: warmUpSeconds });
      }
      const measured = () => measure(server, stage, () => run({ workload, connections: count, seconds }));
      loads[`${workload} ${count}`] =
        workload === 'create' ? await withProof(stage.databaseUrl, measured) : await measured();
    }
  }
  return loads;
}

/** Runs a load, and tells its speed and what a request of it cost. */
async function measure(server, { postgresPid }, load) {
  const cost = () => [cpuUs(server.pid), cpuUsOfTree(postgresPid)];
  const before = cost();
  const { perSecond, requests } = await load();
  const [serverUs, postgresUs] = cost().map((us, who) => us && (us - before[who]) / requests);
  return { perSecond, requests, serverUs, postgresUs };
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

import { countAllowed } from './checks.js';
import { countCreated } from './data.js';
import { interruption } from '../dev/interruption.js';
import { runAtFixedRate, runWrk } from './load.js';
import { cpuUs } from './machine.js';

const CREATIONS = new Set(['create', 'keyed', 'order']);

/**
 * Runs a set until it has all its rounds. In each round every case has a slice of a second, in turn, and
 * every second round goes backwards: the machine changes its speed within seconds, so only figures of one
 * round are compared.
 *
 * @param stage
 * @param set one of planSets.
 * @param {import('./results.js').Results} results gets the records of the rounds.
 * @param {number} rounds
 */
export async function runSet(stage, set, results, rounds) {
  const { id, load, cases, halfLoadOf, isExact = false } = set;
  const running = await stage.ensureRunning([...new Set(cases.flatMap(({ contestants }) => contestants))]);
  const of = ({ contestants }) => contestants.map((name) => running.get(name));
  if (isExact) {
    for (const [index, one] of cases.entries()) {
      const urls = of(one).map(({ server }) => server.url);
      const allowed = await countAllowed(urls, stage.keys.exact[index]);
      results.add([{ ...load, workload: 'exact', set: id, round: 0, case: one.name, allowed }]);
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    const greatest = halfLoadOf && (await runSlice(stage, of(halfLoadOf), { ...load, ...halfLoadOf }));
    const perSecond = greatest && Math.round(greatest.perSecond / 2);
    const records = [];
    for (const one of round % 2 === 0 ? cases : cases.toReversed()) {
      interruption.throwIfAborted();
      const { workload, connections = load.connections } = one;
      const slice = { workload, connections, perSecond };
      // Once is enough: counting many rows takes longer than a slice.
      const run = round === 0 && CREATIONS.has(one.workload) ? runCounted : runSlice;
      records.push({ ...load, set: id, round, case: one.name, ...(await run(stage, of(one), slice)) });
    }
    results.add(records);
  }
}

/** Runs a slice of creations. @throws Error when the database contains fewer than succeeded. */
async function runCounted(stage, contestants, slice) {
  const [{ databaseUrl }] = contestants;
  const before = await countCreated(databaseUrl);
  const figures = await runSlice(stage, contestants, slice);
  const created = (await countCreated(databaseUrl)) - before;
  if (created < figures.requests) {
    throw new Error(`${figures.requests} creations succeeded, but the database contains ${created}`);
  }
  return figures;
}

/**
 * Returns requests a second, and the CPU microseconds of a request: of the servers, of PostgreSQL, and of
 * PostgreSQL with Redis.
 */
async function runSlice({ postgresPid, redisPids, keys, keysFile }, contestants, slice) {
  const servers = contestants.map(({ server }) => server);
  const connections = slice.connections / servers.length;
  const cpus = [servers.map(({ pid }) => pid), [postgresPid], redisPids()];
  const readCpus = () => cpus.map((pids) => pids.reduce((sum, pid) => sum + cpuUs(pid), 0));
  const batchesBefore = await readBatches(servers);
  const before = readCpus();
  const loaded = await Promise.all(
    servers.map(({ url, stderr }) =>
      (slice.perSecond
        ? runAtFixedRate(url, { perSecond: slice.perSecond, connections, keys: keys.load })
        : runWrk(url, { workload: slice.workload, connections, keysFile })
      ).catch((cause) => {
        throw new Error(`${cause.message}\n${stderr()}`, { cause });
      }),
    ),
  );
  const after = readCpus();
  const batches = await readBatches(servers);
  const sum = (figure) => loaded.reduce((total, one) => total + one[figure], 0);
  const [serverUs, postgresUs, redisUs] = after.map((us, index) => (us - before[index]) / sum('requests'));
  return {
    ...loaded[0],
    requests: sum('requests'),
    perSecond: sum('perSecond'),
    p50Ms: sum('p50Ms') / loaded.length,
    serverUs,
    postgresUs,
    storesUs: postgresUs + redisUs,
    ...(batches && { batch: (batches.sum - batchesBefore.sum) / (batches.count - batchesBefore.count) }),
  };
}

/**
 * Returns how many queries the servers have counted by, and the sum of the requests in these; nothing without
 * metrics.
 */
async function readBatches(servers) {
  if (servers.some(({ metricsUrl }) => metricsUrl === undefined)) {
    return undefined;
  }
  const texts = await Promise.all(servers.map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text()));
  const total = (kind) =>
    texts.reduce(
      (sum, text) =>
        sum + Number(new RegExp(`query_batch_size_${kind}.*query="count-requests".* (.*)`).exec(text)[1]),
      0,
    );
  return { count: total('count'), sum: total('sum') };
}

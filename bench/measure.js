import { cpuUs, cpuUsOfTree } from './processes.js';
import { runWrk } from './wrk.js';

/**
 * Loads a server, and tells its speed and what a request cost of it and of PostgreSQL.
 *
 * @param {{ pid: number, url: string }} server
 * @param stage what all stand on.
 * @param {{ workload: string, connections: number, seconds: number }} load
 */
export async function measure(server, { files, animals, round = 1, postgresPid }, load) {
  const cost = () => [cpuUs(server.pid), cpuUsOfTree(postgresPid)];
  const before = cost();
  const { perSecond, requests } = await runWrk(server.url, { files, animals, seed: round, ...load });
  const [serverUs, postgresUs] = cost().map((us, who) => us && (us - before[who]) / requests);
  return { perSecond, requests, serverUs, postgresUs };
}

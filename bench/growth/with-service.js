import { CONTESTANTS } from '../contestants.js';
import { copyTemplate } from '../data.js';
import { measure } from '../measure.js';
import { startServer } from '../server.js';
import { writeCursors } from '../stage.js';

const { service } = CONTESTANTS;
const WARM_UP = { workload: 'mix', connections: 64, seconds: 10 };

/** Lends the service on fresh data, warmed up; and the address of its database. */
export async function withService(stage, use) {
  const databaseUrl = await copyTemplate(stage.serverUrl);
  await writeCursors(stage, service);
  const server = await startServer(service, stage.keys[0], { DATABASE_URL: databaseUrl });
  try {
    await measure(server, stage, WARM_UP);
    return await use(server, databaseUrl);
  } finally {
    await server.stop();
  }
}

import { CONTESTANTS } from '../contestants.js';
import { copyTemplate } from '../data.js';
import { measure } from '../measure.js';
import { startServer } from '../server.js';
import { writeCursors } from '../stage.js';

const { service } = CONTESTANTS;
const WARM_UP = { workload: 'mix', connections: 64, seconds: 5 };

/** Lends the service on fresh data, warmed up. */
export async function withService(stage, use) {
  const databaseUrl = await copyTemplate(stage.serverUrl);
  await writeCursors(stage, service);
  const server = await startServer(service, stage.keys[0], { DATABASE_URL: databaseUrl });
  try {
    await measure(server, stage, WARM_UP);
    return await use(server);
  } finally {
    await server.stop();
  }
}

/** Writes the places that a list is asked for at. */
export function askAt(stage, places) {
  return writeCursors(stage, service, places);
}

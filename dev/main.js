// `npm run dev`: runs the service, and restarts it after each change in `src`. The embedded PostgreSQL
// belongs to this process, so it keeps running over the restarts.

import { reportFailure } from '../dist/cli/failure.js';
import { unblockStandardStreams } from '../dist/process/standard-stream.js';
import { startDatabase } from './database.js';
import { runWithRestarts } from './restarts.js';

unblockStandardStreams();
await reportFailure(async () => {
  const database = await startDatabase();
  try {
    await runWithRestarts(database.settings);
  } finally {
    await database.stop();
  }
});

import { rmSync } from 'node:fs';
import { listChildren, signal } from '../../test/support/programs/debian-postgres.js';

/** What the guardian ends or removes once the run is gone, however that ended. */
export interface Guarded {
  /** Processes; one that the run ends itself is taken out. */
  pids: number[];
  folders: string[];
}

let guarded: Guarded = { pids: [], folders: [] };

process.on('message', (message) => {
  guarded = message as Guarded;
});
// Ctrl-C reaches this process too, but it must outlive the run.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => {});
}
process.on('disconnect', () => void endAll().then(() => process.exit()));

async function endAll(): Promise<void> {
  // A process that cannot be ended has ended already, and its number may belong to another account now.
  await Promise.allSettled(guarded.pids.map(end));
  guarded.folders.forEach((folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
}

async function end(pid: number): Promise<void> {
  // The children of a frozen PostgreSQL do not end with it.
  const children = await listChildren(pid);
  [pid, ...children].forEach((each) => signal(each, 'SIGKILL'));
}

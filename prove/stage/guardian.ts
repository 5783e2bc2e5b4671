import { rmSync } from 'node:fs';

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
// Ctrl-C reaches it too, but the run needs it until its own end.
process.on('SIGINT', () => {});
process.on('disconnect', () => {
  for (const pid of guarded.pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
  guarded.folders.forEach((folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  process.exit();
});

// `npm run chaos`: tries to break what docs/fault-tests.md claims.

import { runScript } from './processes.js';

/** One Ctrl-C arrives twice, because npm forwards it too. */
const AGAIN_MS = 500;

// Ctrl-C reaches a whole process group, but stores and replicas must last until the report: the run has a
// group of its own.
const run = runScript('command.ts', process.argv.slice(2), { detached: true });
let interruptedMs = Infinity;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    if (run.connected) {
      interruptedMs = performance.now();
      run.disconnect();
    } else if (performance.now() - interruptedMs > AGAIN_MS) {
      run.kill('SIGKILL');
    }
  });
}
run.on('exit', (code) => process.exit(code ?? 1));

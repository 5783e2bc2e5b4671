// `npm run chaos`: tries to break what docs/fault-tests.md claims.

import { findOwnNetwork } from './faults/packet-loss.js';
import { claimFolder } from './ledger.js';
import { runScript } from './processes.js';
import { Refusal } from '../dev/refusal.js';

/** One Ctrl-C arrives twice, because npm forwards it too. */
const AGAIN_MS = 500;

async function main(): Promise<void> {
  const claim = await claimFolder();
  const network = findOwnNetwork();
  if (typeof network === 'string') {
    process.stderr.write(`No packets are lost in this run: ${network}\n`);
  }
  // Ctrl-C reaches a whole process group, but stores and replicas must last until the report: the run has a
  // group of its own.
  const run = runScript('command.ts', process.argv.slice(2), {
    detached: true,
    ...(typeof network !== 'string' && network),
  });
  run.send('claim', claim);
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
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Refusal ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
});

#!/usr/bin/env node
import { HEALTH_PATHS, probeHealth } from './health-probe.js';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader may close the pipe early, as `head` does. Any other error loses output.
  if (error.code !== 'EPIPE') {
    process.stderr.write(`Standard output cannot be written: ${error.message}\n`);
    process.exitCode = 1;
  }
});

// The exit code is then the only report.
process.stderr.on('error', () => {});

const [command, path, ...others] = process.argv.slice(2);
const probed = HEALTH_PATHS.find((each) => command === 'probe' && each === path && others.length === 0);
if (probed !== undefined) {
  // All other commands take twenty times its CPU time to load.
  await probeHealth(probed);
} else {
  const { runAnimalStore } = await import('./animal-store.js');
  await runAnimalStore(process.argv.slice(2));
}

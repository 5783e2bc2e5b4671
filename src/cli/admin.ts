#!/usr/bin/env node
import { EXIT_FAILURE } from './exit-codes.js';
import { isHealthPath, probeHealth } from './health-probe.js';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader may close the pipe early, as `head` does. Any other error loses output.
  if (error.code !== 'EPIPE') {
    process.stderr.write(`Standard output cannot be written: ${error.message}\n`);
    process.exitCode = EXIT_FAILURE;
  }
});

// The exit code is then the only report.
process.stderr.on('error', () => {});

const [command, path, ...others] = process.argv.slice(2);
if (command === 'probe' && isHealthPath(path) && others.length === 0) {
  // All other commands take twenty times its CPU time to load.
  await probeHealth(path);
} else {
  const { runAnimalStore } = await import('./animal-store.js');
  await runAnimalStore(process.argv.slice(2));
}

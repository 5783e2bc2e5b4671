#!/usr/bin/env node
import { runAnimalStore } from './animal-store.js';
import { EXIT_FAILURE } from './failure.js';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader may close the pipe early, as `head` does. Any other error loses output.
  if (error.code !== 'EPIPE') {
    process.stderr.write(`Standard output cannot be written: ${error.message}\n`);
    process.exitCode = EXIT_FAILURE;
  }
});

// The exit code is then the only report.
process.stderr.on('error', () => {});

await runAnimalStore(process.argv.slice(2));

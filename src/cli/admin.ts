#!/usr/bin/env node
import { runAnimalStore } from './animal-store.js';
import { EXIT_REFUSED } from './failure.js';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads may stop when it has seen enough; what cannot be written for another reason is lost.
  if (error.code !== 'EPIPE') {
    process.stderr.write(`Standard output cannot be written: ${error.message}\n`);
    process.exitCode = EXIT_REFUSED;
  }
});

await runAnimalStore(process.argv.slice(2));

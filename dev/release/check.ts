// `npm run check:compatibility`: compares what is public in this tree with the last release, and exits with 1
// if it would break clients, operators or replicas of that release.

import { Refusal } from '../refusal.js';
import { findFaults } from './find-faults.js';
import { lastRelease, readMigrations, readTree, releases } from './record.js';

async function main(folder?: string): Promise<void> {
  const last = lastRelease(folder);
  const migrations = Object.entries(readMigrations()).map(([name, sql]) => [name, sql.toString()]);
  const today = new Date().toISOString().slice(0, 10);
  const faults = await findFaults(releases(folder), readTree(), Object.fromEntries(migrations), today);
  for (const { place, problem } of faults) {
    process.stdout.write(`${place}\n    ${problem}\n`);
  }
  if (faults.length > 0) {
    process.stdout.write(
      `\n${faults.length} ${faults.length === 1 ? 'change is' : 'changes are'} not compatible with ` +
        `${last.version}: docs/versioning.md says what may change.\n`,
    );
    process.exitCode = 1;
  }
}

main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Refusal ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
});

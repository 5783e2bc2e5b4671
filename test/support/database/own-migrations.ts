import { readdirSync } from 'node:fs';
import path from 'node:path';

/** The names of the project's own migrations, oldest first. */
export const OWN_MIGRATIONS = readdirSync(path.join(__dirname, '..', '..', '..', 'prisma', 'migrations'))
  .filter((name) => /^\d{14}_/.test(name))
  .toSorted();

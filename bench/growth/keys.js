import { writeFile } from 'node:fs/promises';
import { measure } from '../measure.js';
import { table } from '../table.js';
import { byName, cellsOf, COLUMNS, inRounds } from './rounds.js';
import { withService } from './with-service.js';

const KEYS = [1, 10, 100, 1000, 10_000, 100_000];

/** The mix, over keys that it comes from: each has counters of its own. */
export async function overKeys(stage, { rounds, seconds }) {
  const seen = await withService(stage, (server) =>
    inRounds(rounds, KEYS, async (count) => {
      const keys = `${stage.files.keys}.${count}`;
      await writeFile(keys, stage.keys.slice(0, count).join('\n'), { mode: 0o600 });
      const files = { ...stage.files, keys };
      return measure(server, { ...stage, files }, { workload: 'mix', connections: 64, seconds });
    }),
  );
  const rows = KEYS.map((keys, index) => [keys.toLocaleString('en'), ...cellsOf(seen[index])]);
  return { text: table(['>keys', ...COLUMNS], rows), goals: [], seen: byName(KEYS, seen) };
}

import { measure } from '../measure.js';
import { table } from '../table.js';
import { byName, cellsOf, COLUMNS, inRounds } from './rounds.js';
import { withService } from './with-service.js';

const CONNECTIONS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** The mix, over connections that ask at once. */
export async function overConnections(stage, { rounds, seconds }) {
  const seen = await withService(stage, (server) =>
    inRounds(rounds, CONNECTIONS, (connections) =>
      measure(server, stage, { workload: 'mix', connections, seconds }),
    ),
  );
  const rows = CONNECTIONS.map((connections, index) => [String(connections), ...cellsOf(seen[index])]);
  return { text: table(['>connections', ...COLUMNS], rows), goals: [], seen: byName(CONNECTIONS, seen) };
}

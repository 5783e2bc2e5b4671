import { measure } from '../measure.js';
import { table } from '../table.js';
import { MEASURED, mediansOf } from './medians.js';
import { withService } from './with-service.js';

const CONNECTIONS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** The mix, over connections that ask at once. */
export async function overConnections(stage, { rounds, seconds }) {
  const rows = await withService(stage, (server) =>
    mediansOf(rounds, CONNECTIONS, (connections) =>
      measure(server, stage, { workload: 'mix', connections, seconds }),
    ),
  );
  return table(
    ['>connections', ...MEASURED],
    rows.map((row, index) => [String(CONNECTIONS[index]), ...row]),
  );
}

import { measure } from '../measure.js';
import { table } from '../table.js';
import { WORKLOADS } from '../workloads.js';
import { MEASURED, mediansOf } from './medians.js';
import { askAt, withService } from './with-service.js';

const LOADS = ['first', 'filtered', 'deep', 'one', 'create', 'mix'];
const PAGE = 20;

/** Every load, over a catalogue of one size; and the very last full page, which everybody asks for as they do for the first. */
export async function overCatalogue(stage, { rounds, seconds }) {
  const cases = [
    ...LOADS.map((workload) => ({ workload, what: WORKLOADS[workload] })),
    { workload: 'deep', what: 'the last page', isLast: true },
  ];
  const rows = await withService(stage, (server) =>
    mediansOf(rounds, cases, async ({ workload, isLast }) => {
      await askAt(stage, isLast ? [stage.animals - PAGE - 1] : undefined);
      return measure(server, stage, { workload, connections: 64, seconds });
    }),
  );
  return table(
    ['>animals', '', ...MEASURED],
    rows.map((row, index) => [stage.animals.toLocaleString('en'), cases[index].what, ...row]),
  );
}

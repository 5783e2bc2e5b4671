import { CONTESTANTS } from '../contestants.js';
import { countAnimals } from '../data.js';
import { goalOf } from '../goals.js';
import { measure } from '../measure.js';
import { openStage, writeCursors } from '../stage.js';
import { ratioOf } from '../statistics.js';
import { table } from '../table.js';
import { WORKLOADS } from '../workloads.js';
import { byName, inRounds, speedCell, speedsOf } from './rounds.js';
import { withService } from './with-service.js';

const SIZES = [100, 1000, 10_000, 100_000, 1_000_000];
const KEYS = 10_000;
const PAGE = 20;
/** How fast the last page is to be, of the first. */
const LEAST = 0.9;

/** The last page is one that everybody asks for, as they do for the first; deep ones are all over the list. */
const CASES = [
  { workload: 'first', what: WORKLOADS.first },
  { workload: 'deep', what: 'last page', isLast: true },
  { workload: 'filtered', what: WORKLOADS.filtered },
  { workload: 'deep', what: WORKLOADS.deep },
  { workload: 'one', what: WORKLOADS.one },
  { workload: 'create', what: WORKLOADS.create },
  { workload: 'mix', what: WORKLOADS.mix },
];

/** Every load, over animals that there are. */
export async function overCatalogue(effort) {
  const rows = [];
  const seen = {};
  let last;
  for (const animals of SIZES) {
    const stage = await openStage({ animals, keys: KEYS });
    try {
      last = await measureAll(stage, effort);
    } finally {
      await stage.close();
    }
    seen[animals] = byName(
      CASES.map(({ what }) => what),
      last,
    );
    rows.push([animals.toLocaleString('en'), ...last.map(speedCell)]);
  }
  const ratio = ratioOf(speedsOf(last[1]), speedsOf(last[0])).median;
  return {
    text: table(['>animals', ...CASES.map(({ what }) => `>${what}`)], rows),
    seen,
    goals: [
      goalOf('last page of 1,000,000 animals, of the first', `≥ ${LEAST}`, ratio.toFixed(2), ratio >= LEAST),
    ],
  };
}

function measureAll(stage, { rounds, seconds }) {
  return withService(stage, (server, databaseUrl) =>
    inRounds(rounds, CASES, async ({ workload, isLast = false }) => {
      const places = isLast ? [(await countAnimals(databaseUrl)) - PAGE - 1] : undefined;
      await writeCursors(stage, CONTESTANTS.service, places);
      return measure(server, stage, { workload, connections: 64, seconds });
    }),
  );
}

import { table } from '../../dev/publishing.js';
import { box, legend, line, svg, text } from '../../dev/svg.js';
import type { Rule, Verdict } from './judge.js';
import { LIMIT, PEERS, type PeerName } from './peers.js';
import { hitsStores, TRIALS } from './trials.js';

/** Of the table in a document. */
export const MARKS = 'peers';

/** What a trial of a peer showed. */
export interface TrialResult extends Verdict {
  peer: PeerName;
  trial: string;
  version: string;
  /** The day on which it was tried. */
  date: string;
}

export interface Results {
  machine: string;
  /** The versions of what peers run on. */
  platform: string;
  rows: TrialResult[];
}

const RULES: Record<Rule['kind'], string> = {
  clock: 'minute of the clock',
  first: 'minute from its first request',
  sliding: 'any minute',
  leaky: '1 a second, and 5 more',
  average: 'any minute, on average',
};
/** What a client notices. */
const SLOW_MS = 1000;
const NONE = '–';

const [WIDTH, LINE, TOP, LEFT, RIGHT] = [760, 26, 40, 250, 190];
const COLOURS = { within: '#2563eb', beyond: '#e2a23b', unbounded: '#94a3b8', limit: '#0f172a' };

/** Returns the results as Markdown. */
export function tabulate({ machine, platform, rows }: Results): string {
  const trials = Object.entries(TRIALS);
  const lines = namesOf(rows).map((name) => {
    const ofPeer = rows.filter(({ peer }) => peer === name);
    const cells = trials.map(([trial]) => describe(ofPeer.find((row) => row.trial === trial)));
    const { title, rule } = PEERS[name];
    return [`${title} (${ofPeer[0]?.version})`, RULES[rule.kind], ...cells];
  });
  const head = ['limiter', 'its window', ...trials.map(([, { title }]) => `>${title}`)];
  const dates = [...new Set(rows.map(({ date }) => date))].toSorted().join(', ');
  return `${table(head, lines)}\n\n_${dates}; ${machine}; ${platform}._`;
}

function describe(row: TrialResult | undefined): string {
  if (row === undefined) {
    return NONE;
  }
  const { most, marked, exceeds, isRepeated, failed, slowestMs } = row;
  return [
    exceeds ? `**${most}**` : String(most),
    ...(marked > 0 ? [`(${marked} marked)`] : []),
    ...(isRepeated === true ? ['↻'] : []),
    ...(failed > 0 ? [`(${failed} failed)`] : []),
    ...(slowestMs > SLOW_MS ? [`${(slowestMs / 1000).toFixed(1)} s`] : []),
  ].join(' ');
}

/** Returns the most that a window of each limiter let through, in whichever trial, as SVG. */
export function drawMost({ rows }: Results): string {
  const worst = namesOf(rows).map((name) => {
    const ofPeer = rows.filter(({ peer }) => peer === name);
    const row = ofPeer.reduce((one, other) => (other.most > one.most ? other : one));
    const exceeds = ofPeer.some((each) => each.exceeds);
    return { ...row, exceeds };
  });
  const scale = (WIDTH - LEFT - RIGHT) / Math.max(...worst.map(({ most }) => most));
  const height = TOP + worst.length * LINE + 12;
  const bars = worst.flatMap(({ peer, most, trial, exceeds }, index) => {
    const y = TOP + index * LINE;
    const title = TRIALS[trial as keyof typeof TRIALS].title;
    return [
      text(LEFT - 8, y + 16, PEERS[peer].title.replaceAll('`', ''), 'end'),
      box(LEFT, y + 3, most * scale, LINE - 8, colourOf(PEERS[peer].rule, exceeds)),
      text(LEFT + most * scale + 6, y + 16, `${most}${most > LIMIT ? `: ${title}` : ''}`, 'start'),
    ];
  });
  const limit = LEFT + LIMIT * scale;
  return svg(WIDTH, height, [
    legend(LEFT, 6, COLOURS.within, 'within its own rule'),
    legend(LEFT + 140, 6, COLOURS.beyond, 'beyond it in some trial'),
    legend(LEFT + 300, 6, COLOURS.unbounded, 'claims no bound'),
    ...bars,
    line(`M${limit.toFixed(1)} ${TOP - 4}V${height - 8}`, COLOURS.limit, ' stroke-dasharray="4 3"'),
    text(limit, TOP - 8, String(LIMIT)),
  ]);
}

/** Returns the trials that a limiter has not been through, as `--into` needs them all. */
export function findMissing(rows: TrialResult[]): string[] {
  return (Object.keys(PEERS) as PeerName[]).flatMap((peer) =>
    Object.entries(TRIALS)
      .filter(([, trial]) => !hitsStores(trial) || PEERS[peer].store !== null)
      .filter(([trial]) => !rows.some((row) => row.peer === peer && row.trial === trial))
      .map(([trial]) => `${peer} ${trial}`),
  );
}

const colourOf = ({ kind }: Rule, exceeds: boolean): string =>
  kind === 'average' ? COLOURS.unbounded : exceeds ? COLOURS.beyond : COLOURS.within;

/** Returns the peers that were tried, in their order. */
const namesOf = (rows: TrialResult[]) =>
  (Object.keys(PEERS) as PeerName[]).filter((name) => rows.some(({ peer }) => peer === name));

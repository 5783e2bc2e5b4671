import { Random } from '../random.js';

/** What faults can happen to, by name. */
export interface Targets {
  replicas: string[];
  /** The servers that store data or counters. */
  servers: string[];
  /** The connections between replicas and servers. */
  links: string[];
  /** Servers of which one is the master, and another can take over. */
  groups: string[];
}

/** The kinds of faults, and what each happens to. */
const KINDS = {
  'replica-kill': 'replicas',
  'replica-stop': 'replicas',
  'replica-freeze': 'replicas',
  'clock-skew': 'replicas',
  'store-kill': 'servers',
  'store-freeze': 'servers',
  'store-failover': 'groups',
  'link-cut': 'links',
  'link-slow': 'links',
  'link-half-open': 'links',
} as const satisfies Record<string, keyof Targets>;
export type FaultKind = keyof typeof KINDS;
export const FAULT_KINDS = Object.keys(KINDS) as FaultKind[];

export interface PlannedFault {
  fault: FaultKind;
  target: string;
  /** The time without a fault before it. */
  calmMs: number;
  lastsMs: number;
  /**
   * For `link-slow`, how long each chunk of data is held; for `clock-skew`, how far the clock is ahead, or
   * behind if negative.
   */
  byMs: number;
}

/** The time without a fault at the start and at the end of a run. */
export const CALM_MS = 5000;
/** Shorter than the queries that find a store away, and longer. */
const DELAYS_MS = [20, 100, 300, 1000];
const HOUR_MS = 3_600_000;

/**
 * Returns the faults of a run, one after another with calm between; the run lasts longer if it takes long to
 * undo some. No kind that has a target comes again before all others came. The same arguments always give the
 * same faults.
 */
export function planFaults(seed: number, minutes: number, targets: Targets): PlannedFault[] {
  const random = new Random(seed, 'faults');
  const kinds = FAULT_KINDS.filter((kind) => targets[KINDS[kind]].length > 0);
  const faults: PlannedFault[] = [];
  let leftMs = minutes * 60_000 - CALM_MS;
  for (let calmMs = CALM_MS; ;) {
    for (const fault of random.shuffle(kinds)) {
      const target = random.pick(targets[KINDS[fault]]);
      const lastsMs = random.integer(1500, 6000);
      leftMs -= calmMs + lastsMs;
      if (leftMs < 0) {
        return faults;
      }
      faults.push({ fault, target, calmMs, lastsMs, byMs: extent(fault, random) });
      calmMs = random.integer(3000, 7000);
    }
  }
}

function extent(fault: FaultKind, random: Random): number {
  if (fault === 'link-slow') {
    return random.pick(DELAYS_MS);
  }
  return fault === 'clock-skew' ? random.integer(1, 12) * HOUR_MS * (random.chance(0.5) ? 1 : -1) : 0;
}

import { Random } from '../random.js';

/** What faults can happen to, by name. */
export interface Targets {
  replicas: string[];
  /** The servers that store data or counters. */
  servers: string[];
  /** The connections between replicas and servers. */
  links: string[];
  /** Groups of servers: one is the master, and another can take over. */
  groups: string[];
  /** The links and replicas whose packets the kernel can lose; empty if it refuses. */
  networks: string[];
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
  'link-loss': 'networks',
} as const satisfies Record<string, keyof Targets>;
export type FaultKind = keyof typeof KINDS;
export const FAULT_KINDS = Object.keys(KINDS) as FaultKind[];

export interface PlannedFault {
  fault: FaultKind;
  target: string;
  /** The time since the start of the fault that it comes on top of; 0 for one that does not. */
  afterMs: number;
  lastsMs: number;
  /**
   * For `link-slow`, how long each chunk of data is held; for `link-loss`, each packet; for `clock-skew`, how
   * far the clock is ahead, or behind if negative.
   */
  byMs: number;
}

/** A time with a fault, and possibly a second fault that begins while the first lasts. */
export interface Episode {
  /** The time without a fault before it. */
  calmMs: number;
  faults: PlannedFault[];
}

/** The time without a fault at the start and at the end of a run. */
export const CALM_MS = 5000;
/** Some shorter and some longer than the queries by which a store is found unavailable. */
const DELAYS_MS = [20, 100, 300, 1000];
const LOSS_DELAYS_MS = [1, 10, 50];
/** How many of the faults that could come on top of another do. */
const SECOND_SHARE = 0.5;
const HOUR_MS = 3_600_000;

/**
 * Returns the faults of a run, with calm in between; two at once happen to different targets. The run lasts
 * longer if some take long to undo. No kind that has a target is repeated before all others have occurred.
 * The same arguments always give the same faults.
 */
export function planFaults(seed: number, minutes: number, targets: Targets): Episode[] {
  const random = new Random(seed, 'faults');
  const kinds = FAULT_KINDS.filter((kind) => targets[KINDS[kind]].length > 0);
  const episodes: Episode[] = [];
  let leftMs = minutes * 60_000 - CALM_MS;
  for (let calmMs = CALM_MS; ;) {
    for (const kind of random.shuffle(kinds)) {
      const fault = planFault(kind, targets, random);
      const last = episodes.at(-1);
      const first = last?.faults.length === 1 ? last.faults[0] : undefined;
      const isSecond = first !== undefined && canCoincide(first, fault) && random.chance(SECOND_SHARE);
      if (isSecond) {
        fault.afterMs = random.integer(0, first.lastsMs);
        leftMs -= Math.max(0, fault.afterMs + fault.lastsMs - first.lastsMs);
      } else {
        leftMs -= calmMs + fault.lastsMs;
      }
      if (leftMs < 0) {
        return episodes;
      }
      if (isSecond) {
        last?.faults.push(fault);
      } else {
        episodes.push({ calmMs, faults: [fault] });
        calmMs = random.integer(3000, 7000);
      }
    }
  }
}

function planFault(fault: FaultKind, targets: Targets, random: Random): PlannedFault {
  const target = random.pick(targets[KINDS[fault]]);
  return {
    fault,
    target,
    afterMs: 0,
    // A failover is over once the other servers follow.
    lastsMs: fault === 'store-failover' ? 0 : random.integer(1500, 6000),
    byMs: EXTENTS[fault]?.(random) ?? 0,
  };
}

/** Undoing one of two faults of a kind, or of a target, would undo the other. */
const canCoincide = (first: PlannedFault, second: PlannedFault) =>
  first.fault !== second.fault && first.target !== second.target;

/** How the faults that have an extent get it. */
const EXTENTS: Partial<Record<FaultKind, (random: Random) => number>> = {
  'link-slow': (random) => random.pick(DELAYS_MS),
  'link-loss': (random) => random.pick(LOSS_DELAYS_MS),
  'clock-skew': (random) => random.integer(1, 12) * HOUR_MS * (random.chance(0.5) ? 1 : -1),
};

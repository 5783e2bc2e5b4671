/** A replica, and where it listens through all its restarts. */
export interface ReplicaAddress {
  name: string;
  port: number;
  /** The version that serves there until it is replaced. */
  version: string;
}

/** What a client or the administrator needs at its start. */
export interface Setup {
  name: string;
  seed: number;
  replicas: ReplicaAddress[];
  /** The secret of the administrator's key, for the administrator only. */
  adminKey?: string;
}

/** A key that clients use, in whichever state it is. */
export interface ClientKey {
  /** The name in the ledger. */
  name: string;
  quota: string;
  secret: string;
  /** How often clients use it, beside others. */
  weight: number;
}

/** What clients count since their last report. */
export interface Counts {
  /** Responses that report a count: those with rate-limit headers, allowed or denied. */
  decisions: number;
  served: number;
  denied: number;
  degraded: number;
  unavailable: number;
  withoutResponse: number;
}

export const NO_COUNTS: Readonly<Counts> = {
  decisions: 0,
  served: 0,
  denied: 0,
  degraded: 0,
  unavailable: 0,
  withoutResponse: 0,
};

export function addCounts(total: Counts, counts: Counts): void {
  for (const name of Object.keys(counts) as (keyof Counts)[]) {
    total[name] += counts[name];
  }
}

export type ToProcess =
  | { type: 'setup'; setup: Setup }
  | { type: 'key'; key: ClientKey }
  | { type: 'ended'; key: string }
  | { type: 'replaced'; replica: string; version: string }
  | { type: 'stop' };

/**
 * `ready`: the administrator has issued the keys of every run. `counts`: also the decisions of each version.
 */
export type FromProcess =
  | { type: 'ready' }
  | { type: 'key'; key: ClientKey }
  | { type: 'ended'; key: string }
  | { type: 'counts'; counts: Counts; decisionsOf: Record<string, number> };

/** Sends a message to the process that started this one. */
export function report(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => resolve());
  });
}

/** Receives messages, and ends this process with the one that started it. */
export function receive(handle: (message: ToProcess) => void): void {
  process.on('message', (message) => handle(message as ToProcess));
  process.on('disconnect', () => process.exit(1));
}

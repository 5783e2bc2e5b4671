import { type FaultLine, Ledger, monotonicMs } from '../ledger.js';
import type { Link } from '../stage/counter-stores.js';
import type { FailoverGroup } from '../stage/failover-watch.js';
import type { Replica } from '../stage/replica.js';
import type { Server } from '../stage/server.js';
import type { Stage } from '../stage/stage.js';
import type { FaultKind, PlannedFault, Targets } from './schedule.js';

/** How a fault is caused, and how it is undone. */
interface Driver {
  cause(): Promise<unknown> | void;
  undo(): Promise<unknown> | void;
}

/** Causes the faults of a schedule, and writes them into the ledger. */
export class Faults {
  private readonly ledger = new Ledger<FaultLine>('faults');
  /** Those that are over, for the report. */
  readonly seen: FaultLine[] = [];

  constructor(private readonly stage: Stage) {}

  get targets(): Targets {
    const { replicas, servers, links, groups } = this.stage;
    const names = (list: { name: string }[]) => list.map(({ name }) => name);
    return {
      replicas: names(replicas),
      servers: names(servers),
      links: names(links),
      groups: names(groups),
    };
  }

  /** Causes a fault, waits for as long as it lasts, or until the run is aborted, and undoes it. */
  async run(planned: PlannedFault, pause: (ms: number) => Promise<void>): Promise<void> {
    const { fault, target, lastsMs } = planned;
    await this.settle();
    const driver = this.driver(planned);
    const line: FaultLine = {
      kind: 'fault',
      startMs: monotonicMs(),
      causedMs: null,
      endMs: null,
      fault,
      target,
    };
    this.seen.push(line);
    try {
      await driver.cause();
      line.causedMs = monotonicMs();
      await pause(lastsMs);
      await driver.undo();
      await this.settle(line);
      line.endMs = monotonicMs();
    } finally {
      this.ledger.write(line);
    }
  }

  async close(): Promise<void> {
    await this.settle();
    await this.ledger.close();
  }

  /** Waits until what fails over is whole. A failover that is not planned is a fault of its own, from the start of the one that led to it. */
  private async settle(during?: FaultLine): Promise<void> {
    for (const { target, startMs, endMs } of await this.stage.settle()) {
      if (during?.fault !== 'store-failover') {
        const line: FaultLine = {
          kind: 'fault',
          startMs: during?.target === target ? Math.min(startMs, during.startMs) : startMs,
          causedMs: endMs,
          endMs: monotonicMs(),
          fault: 'store-failover',
          target,
        };
        this.seen.push(line);
        this.ledger.write(line);
      }
    }
  }

  private driver({ fault, target, byMs }: PlannedFault): Driver {
    const { replicas, servers, links, groups } = this.stage;
    const drivers: Record<FaultKind, () => Driver> = {
      'replica-kill': () => endReplica(find(replicas, target), 'SIGKILL'),
      'replica-stop': () => endReplica(find(replicas, target), 'SIGTERM'),
      'replica-freeze': () => freezeReplica(find(replicas, target)),
      'clock-skew': () => skewClock(find(replicas, target), byMs),
      'store-kill': () => killServer(find(servers, target)),
      'store-freeze': () => freezeServer(find(servers, target)),
      'store-failover': () => failOver(find(groups, target)),
      'link-cut': () => breakLink(find(links, target), (proxy) => proxy.goAway()),
      'link-slow': () => breakLink(find(links, target), (proxy) => proxy.slowDown(byMs)),
      'link-half-open': () => breakLink(find(links, target), (proxy) => proxy.loseReplies()),
    };
    return drivers[fault]();
  }
}

function find<T extends { name: string }>(list: T[], name: string): T {
  const found = list.find((each) => each.name === name);
  if (found === undefined) {
    throw new Error(`There is no ${name}`);
  }
  return found;
}

function endReplica(replica: Replica, signal: 'SIGKILL' | 'SIGTERM'): Driver {
  return { cause: () => replica.end(signal), undo: () => replica.start() };
}

function freezeReplica(replica: Replica): Driver {
  return { cause: () => replica.freeze(), undo: () => replica.goOn() };
}

/** The clock of a process cannot be moved while it runs, so the fault begins and ends with a restart. */
function skewClock(replica: Replica, clockAheadMs: number): Driver {
  return {
    cause: async () => {
      await replica.end('SIGTERM');
      await replica.start(clockAheadMs);
    },
    undo: async () => {
      await replica.end('SIGTERM');
      await replica.start();
    },
  };
}

function killServer(server: Server): Driver {
  return { cause: () => server.kill(), undo: () => server.start() };
}

function freezeServer(server: Server): Driver {
  return { cause: () => server.freeze(), undo: () => server.goOn() };
}

function failOver(group: FailoverGroup): Driver {
  return { cause: () => group.failOver(), undo: () => {} };
}

function breakLink({ proxy }: Link, cause: (proxy: Link['proxy']) => void): Driver {
  return { cause: () => cause(proxy), undo: () => proxy.comeBack() };
}

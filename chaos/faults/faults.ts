import type { Build } from '../../dev/release/build.js';
import { Ledger, monotonicMs } from '../ledger.js';
import type { Fault } from '../verifier/evidence.js';
import type { Link } from '../stage/counter-stores.js';
import type { FailoverGroup } from '../stage/failover-watch.js';
import type { Replica } from '../stage/replica.js';
import type { Server } from '../stage/server.js';
import type { Stage } from '../stage/stage.js';
import type { FaultKind, PlannedFault, Targets } from './schedule.js';
import { canLosePackets, losePackets, losePacketsNoMore } from './packet-loss.js';

/** Waits, but not beyond the end of the run. Returns whether the run continues. */
type Pause = (ms: number) => Promise<boolean>;

/** How a fault is caused, and how it is undone. */
interface Driver {
  cause(): unknown;
  undo(): unknown;
}

/** Causes the faults of a schedule, and writes them into the ledger. */
export class Faults {
  private readonly ledger = new Ledger<Fault>('faults');
  /** The faults that are over, for the report. */
  readonly seen: Fault[] = [];
  /** The current and past faults of each target. */
  private readonly happening = new Map<string, Promise<unknown>>();

  constructor(private readonly stage: Stage) {}

  get targets(): Targets {
    const { replicas, servers, links, groups } = this.stage;
    const names = (list: { name: string }[]) => list.map(({ name }) => name);
    return {
      replicas: names(replicas),
      servers: names(servers),
      links: names(links),
      groups: names(groups),
      networks: canLosePackets ? names([...links, ...replicas]) : [],
    };
  }

  /** Causes the faults of an episode, and undoes each once it has lasted, or once the run is aborted. */
  async run(faults: PlannedFault[], pause: Pause): Promise<void> {
    await this.settle();
    await Promise.all(faults.map((planned) => this.runOne(planned, pause)));
  }

  private async runOne(planned: PlannedFault, pause: Pause): Promise<void> {
    const { fault, target, afterMs, lastsMs, byMs } = planned;
    if (afterMs > 0 && !(await pause(afterMs))) {
      return;
    }
    await this.record({ fault, target, byMs }, async (line) => {
      const driver = this.driver(planned);
      await driver.cause();
      line.causedMs = monotonicMs();
      await pause(lastsMs);
      await driver.undo();
      if (this.stage.groups.some(({ name }) => name === target)) {
        await this.settle(line);
      }
    });
  }

  /**
   * Ends a replica in good order, and starts it as another build.
   *
   * @param onEnd runs between the two.
   */
  async replace(replica: Replica, build: Build, onEnd: () => void): Promise<void> {
    const { version } = build;
    await this.record({ fault: 'replica-replace', target: replica.name, version }, async (line) => {
      await replica.end('SIGTERM');
      line.causedMs = monotonicMs();
      replica.build = build;
      onEnd();
      await replica.start();
    });
  }

  /** Causes and undoes one fault, once no other happens to its target. */
  private async record(
    fault: Pick<Fault, 'fault' | 'target' | 'byMs' | 'version'>,
    run: (line: Fault) => Promise<void>,
  ): Promise<void> {
    const { target } = fault;
    const recorded = (this.happening.get(target) ?? Promise.resolve()).then(async () => {
      const line: Fault = { kind: 'fault', startMs: monotonicMs(), causedMs: null, endMs: null, ...fault };
      this.seen.push(line);
      try {
        await run(line);
        line.endMs = monotonicMs();
      } finally {
        this.ledger.write(line);
      }
    });
    this.happening.set(
      target,
      recorded.catch(() => {}),
    );
    await recorded;
  }

  /** @throws Error if what fails over does not become whole; the ledger is written all the same. */
  async close(): Promise<void> {
    try {
      await this.settle();
    } finally {
      await this.ledger.close();
    }
  }

  /**
   * Waits until what fails over is whole. A failover that is not planned is a fault of its own, from the
   * start of the one that led to it.
   */
  private async settle(during?: Fault): Promise<void> {
    for (const { target, startMs, endMs } of await this.stage.settle()) {
      if (during?.fault !== 'store-failover') {
        const line: Fault = {
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
    const isTarget = ({ name }: { name: string }) => name === target;
    // Each kind of fault uses the one that the schedule chose among its own targets.
    const replica = this.stage.replicas.find(isTarget) as Replica;
    const server = this.stage.servers.find(isTarget) as Server;
    const group = this.stage.groups.find(isTarget) as FailoverGroup;
    // After a failover, the link leads to another server.
    const proxy = this.stage.links.find(isTarget)?.proxy as Link['proxy'];
    const port = () => (proxy === undefined ? replica.port : Number(new URL(proxy.url).port));
    const drivers: Record<FaultKind, Driver> = {
      'replica-kill': { cause: () => replica.end('SIGKILL'), undo: () => replica.start() },
      'replica-stop': { cause: () => replica.end('SIGTERM'), undo: () => replica.start() },
      'replica-freeze': { cause: () => replica.freeze(), undo: () => replica.goOn() },
      // The clock of a process cannot be moved while it runs.
      'clock-skew': { cause: () => replica.restart(byMs), undo: () => replica.restart() },
      'store-kill': { cause: () => server.kill(), undo: () => server.start() },
      'store-freeze': { cause: () => server.freeze(), undo: () => server.goOn() },
      'store-failover': { cause: () => group.failOver(), undo: () => {} },
      'link-cut': { cause: () => proxy.goAway(), undo: () => proxy.comeBack() },
      'link-slow': { cause: () => proxy.slowDown(byMs), undo: () => proxy.comeBack() },
      'link-half-open': { cause: () => proxy.loseReplies(), undo: () => proxy.comeBack() },
      'link-loss': { cause: () => losePackets(port(), byMs), undo: () => losePacketsNoMore() },
    };
    return drivers[fault];
  }
}

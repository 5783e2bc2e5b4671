import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Ledger } from '../ledger.js';
import type { Request } from '../verifier/evidence.js';
import { isUndecided } from '../verifier/history.js';
import { Random } from '../random.js';
import { exchange, type PlannedRequest, requestLine } from './exchange.js';
import { KeyRing } from './key-ring.js';
import { NO_COUNTS, receive, type ReplicaAddress, report, type Setup } from './messages.js';
import { Workload } from './workload.js';

/** Requests that the client has in flight, apart from bursts. */
const LOOPS = 100;
/** A replica that hangs delays at most this many of them. */
const LOOPS_AT_ONE_REPLICA = 40;
/** How long a replica that refused a connection gets no request. */
const REFUSED_PAUSE_MS = 200;
/** The pause after a request that was not served, so that most requests are not failures. */
const REST_MS = 20;
const REPORT_INTERVAL_MS = 1000;
const MINUTE_MS = 60_000;
/** A burst begins this long before the minute ends, and goes on as long in the next. */
const BURST_MS = 150;
const BURST_REQUESTS = 40;
const TWIN_INTERVAL_MS = 250;
const HELD_INTERVAL_MS = 50;

/** A process that sends requests until it is stopped, and writes each into its ledger. */
class Client {
  private readonly ledger: Ledger<Request>;
  private readonly random: Random;
  readonly keys: KeyRing;
  private readonly workload: Workload;
  private readonly inFlight = new Map<string, number>();
  private readonly refusedUntilMs = new Map<string, number>();
  private counts = { ...NO_COUNTS };
  private decisionsOf: Record<string, number> = {};
  private sent = 0;
  private isOver = false;

  constructor(private readonly setup: Setup) {
    const { name, seed } = setup;
    this.ledger = new Ledger(name);
    this.random = new Random(seed, name);
    this.keys = new KeyRing(this.random);
    this.workload = new Workload(name, this.random, this.keys);
  }

  async run(): Promise<void> {
    const reporting = setInterval(() => void this.report(), REPORT_INTERVAL_MS);
    const loops = Array.from({ length: LOOPS }, () => this.loop());
    await Promise.all([...loops, this.sendBursts(), this.sendTwins(), this.sendHeld()]);
    clearInterval(reporting);
    await this.ledger.close();
    await this.report();
  }

  /** Has the next requests to a replica count as another version's. */
  replace(replica: string, version: string): void {
    this.setup.replicas = this.setup.replicas.map((each) =>
      each.name === replica ? { ...each, version } : each,
    );
  }

  stop(): void {
    this.isOver = true;
  }

  private async loop(): Promise<void> {
    while (!this.isOver) {
      const replica = this.keys.isEmpty ? undefined : this.chooseReplica();
      const sent = replica === undefined ? null : await this.send(replica, this.workload.next());
      await pause(sent === null || sent.status === null || isUndecided(sent) ? REST_MS : 0);
    }
  }

  /** Sends many requests of narrow quotas around the end of each minute, without waiting for responses. */
  private async sendBursts(): Promise<void> {
    while (!this.isOver) {
      const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS) - BURST_MS;
      await pause(Math.min(leftMs > 0 ? leftMs : MINUTE_MS + leftMs, 500));
      if (MINUTE_MS - (Date.now() % MINUTE_MS) > BURST_MS || this.keys.isEmpty) {
        continue;
      }
      const sending: Promise<unknown>[] = [];
      for (let index = 0; index < BURST_REQUESTS; index += 1) {
        sending.push(this.send(this.random.pick(this.setup.replicas), this.workload.nextOfBurst()));
        await pause((2 * BURST_MS) / BURST_REQUESTS);
      }
      await Promise.all(sending);
    }
  }

  /** Sends one creation again and again at instants that all clients share. */
  private async sendTwins(): Promise<void> {
    while (!this.isOver) {
      await pause(TWIN_INTERVAL_MS - (Date.now() % TWIN_INTERVAL_MS));
      const replica = this.keys.isEmpty ? undefined : this.chooseReplica();
      if (replica !== undefined) {
        await this.send(replica, this.workload.twin(`twin-${Math.floor(Date.now() / TWIN_INTERVAL_MS)}`));
      }
    }
  }

  /** Sends creations whose bodies arrive seconds after their heads, beside the others. */
  private async sendHeld(): Promise<void> {
    const sending = new Set<Promise<unknown>>();
    while (!this.isOver) {
      await pause(HELD_INTERVAL_MS);
      const replica = this.keys.isEmpty ? undefined : this.chooseReplica();
      if (replica !== undefined) {
        const sent: Promise<unknown> = this.send(replica, this.workload.held()).finally(() =>
          sending.delete(sent),
        );
        sending.add(sent);
      }
    }
    await Promise.all(sending);
  }

  /**
   * Returns a replica that neither hangs nor refuses connections, as far as the client can see; undefined if
   * there is none.
   */
  private chooseReplica(): ReplicaAddress | undefined {
    const free = this.setup.replicas.filter(
      ({ name }) =>
        (this.inFlight.get(name) ?? 0) < LOOPS_AT_ONE_REPLICA &&
        (this.refusedUntilMs.get(name) ?? 0) < performance.now(),
    );
    return free.length === 0 ? undefined : this.random.pick(free);
  }

  private async send(replica: ReplicaAddress, planned: PlannedRequest): Promise<Request | null> {
    const { name } = replica;
    this.inFlight.set(name, (this.inFlight.get(name) ?? 0) + 1);
    this.sent += 1;
    const id = `${this.setup.name}-${this.sent}`;
    const outcome = await exchange(replica, planned, id);
    this.inFlight.set(name, (this.inFlight.get(name) ?? 1) - 1);
    if (outcome === null) {
      this.refusedUntilMs.set(name, performance.now() + REFUSED_PAUSE_MS);
      return null;
    }
    const line = requestLine({ id, replica: name }, planned, outcome);
    this.ledger.write(line);
    this.workload.observe(planned, outcome, line.recordId);
    this.count(line, replica.version);
    return line;
  }

  private async report(): Promise<void> {
    const { counts, decisionsOf } = this;
    [this.counts, this.decisionsOf] = [{ ...NO_COUNTS }, {}];
    await report({ type: 'counts', counts, decisionsOf });
  }

  private count(line: Request, version: string): void {
    const { status, receivedMs, headers } = line;
    if (receivedMs === null) {
      this.counts.withoutResponse += 1;
    } else if (isUndecided(line)) {
      this.counts.unavailable += 1;
    } else {
      this.counts.decisions += 1;
      this.decisionsOf[version] = (this.decisionsOf[version] ?? 0) + 1;
      this.counts.denied += status === 429 ? 1 : 0;
      this.counts.served += status === 429 ? 0 : 1;
      this.counts.degraded += headers.degraded ? 1 : 0;
    }
  }
}

// In production, servers run on separate machines. Here, servers that fail over would lose each other under
// this load.
setPriority(10);

let client: Client;

receive((message) => {
  switch (message.type) {
    case 'setup':
      client = new Client(message.setup);
      void client.run().then(() => process.exit());
      break;
    case 'key':
      client.keys.add(message.key);
      break;
    case 'ended':
      client.keys.end(message.key);
      break;
    case 'replaced':
      client.replace(message.replica, message.version);
      break;
    case 'stop':
      client.stop();
      break;
  }
});

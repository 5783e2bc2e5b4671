import type { Admission } from './admission.js';
import { bansAreOn } from './ban.js';
import { add, type Counter, learn, look, newCounter, take } from './counter.js';
import { type Ask, CounterStore, type Taken } from './counter-store.js';
import { SubjectMemory } from './subject-memory.js';

/** Clients, and as many strangers: about 20 MB where all are there. */
const MAX_SUBJECTS = 50_000;

/** Counts in the memory of this process, for this process alone, by the rules of the shared stores. */
export class LocalCounterStore extends CounterStore {
  private readonly counters: SubjectMemory<Counter>;

  /**
   * @param now its time, in milliseconds since the Unix epoch.
   * @param ladder milliseconds that the first ban lasts, the next, and so on; empty where bans are off.
   * @param maxSubjects how many clients it remembers, and how many strangers. One that is forgotten has full windows.
   */
  constructor(
    private readonly now: () => number,
    private readonly ladder: readonly number[],
    maxSubjects = MAX_SUBJECTS,
  ) {
    super();
    this.counters = new SubjectMemory(maxSubjects);
  }

  /** Never rejects. */
  async take(ask: Ask): Promise<Admission> {
    return this.takeNow(ask);
  }

  /** As `take`, at once. */
  takeNow(ask: Ask): Admission {
    const nowMs = Math.floor(this.now());
    const before = this.counters.get(ask) ?? newCounter(nowMs);
    const { counter, admission } = take(before, ask, nowMs, this.ladder);
    this.counters.set(ask, counter);
    return admission;
  }

  /** Never rejects. */
  async look(ask: Ask): Promise<Admission> {
    return this.lookNow(ask);
  }

  /** As `look`, at once. */
  lookNow(ask: Ask): Admission {
    const nowMs = Math.floor(this.now());
    return look(this.counters.get(ask) ?? newCounter(nowMs), ask, nowMs, this.ladder);
  }

  /** Takes over what another store answered. In place, as this is done for every request. */
  learn(ask: Ask, admission: Admission): void {
    let counter = this.counters.get(ask);
    if (counter === undefined) {
      counter = newCounter(admission.nowMs);
      this.counters.set(ask, counter);
    }
    learn(counter, admission);
  }

  /** Never rejects. */
  async add(taken: Taken[]): Promise<void> {
    const nowMs = Math.floor(this.now());
    for (const one of taken) {
      this.counters.set(one, add(this.counters.get(one) ?? newCounter(0), one, nowMs));
    }
  }

  /** Never rejects. */
  async bans(): Promise<Map<string, Date>> {
    const bans = new Map<string, Date>();
    for (const [subject, { bannedUntilMs }] of this.counters.clientEntries()) {
      if (this.lasts(bannedUntilMs)) {
        bans.set(subject, new Date(bannedUntilMs));
      }
    }
    return bans;
  }

  /** Never rejects. */
  async liftBan(subject: string): Promise<Date | null> {
    const counter = this.counters.ofClient(subject);
    if (counter === undefined || !this.lasts(counter.bannedUntilMs)) {
      return null;
    }
    const until = new Date(counter.bannedUntilMs);
    counter.bannedUntilMs = Math.floor(this.now());
    counter.refusals = 0;
    return until;
  }

  private lasts(bannedUntilMs: number | null): bannedUntilMs is number {
    return bansAreOn(this.ladder) && bannedUntilMs !== null && bannedUntilMs > this.now();
  }
}

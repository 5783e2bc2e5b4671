import { LRUCache } from 'lru-cache';
import { databaseReason } from '../database/availability.js';

/** Of how many at once it remembers what it has told. */
const MAX_AWAY = 1000;

/** Tells the log who cannot be used: each reason once, however often it is tried again, until they are there again. */
export class OutageLog {
  private readonly told = new LRUCache<string, Set<string>>({ max: MAX_AWAY });

  constructor(private readonly tell: (line: string) => void) {}

  away(who: string, error: unknown): void {
    const reasons = this.told.get(who) ?? new Set();
    const reason = databaseReason(error);
    if (!reasons.has(reason)) {
      this.told.set(who, reasons.add(reason));
      this.tell(`${who} cannot be used, and is tried again: ${reason}`);
    }
  }

  /** Says nothing of who was never away. */
  back(who: string): void {
    if (this.told.delete(who)) {
      this.tell(`${who} is there again`);
    }
  }
}

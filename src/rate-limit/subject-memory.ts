import { LRUCache } from 'lru-cache';

/**
 * What is remembered of subjects, in bounded memory. When it is full, the one not touched for the longest is forgotten. Clients
 * and strangers have a room each: addresses, of which one person may have billions, cannot crowd out clients.
 */
export class SubjectMemory<Value extends object> {
  private readonly clients: LRUCache<string, Value>;
  private readonly strangers: LRUCache<string, Value>;

  /** @param max how many clients are remembered, and how many strangers. */
  constructor(max: number) {
    this.clients = new LRUCache({ max });
    this.strangers = new LRUCache({ max });
  }

  get size(): number {
    return this.clients.size + this.strangers.size;
  }

  get({ subject, perDay }: { subject: string; perDay: number | null }): Value | undefined {
    return (perDay === null ? this.strangers : this.clients).get(subject);
  }

  set({ subject, perDay }: { subject: string; perDay: number | null }, value: Value): void {
    (perDay === null ? this.strangers : this.clients).set(subject, value);
  }

  /** Removes so many and returns them: clients first, and those touched last. */
  takeOut(count: number): Value[] {
    const out: Value[] = [];
    for (const room of [this.clients, this.strangers]) {
      for (const [subject, value] of room.entries()) {
        if (out.length === count) {
          return out;
        }
        room.delete(subject);
        out.push(value);
      }
    }
    return out;
  }

  /** What is remembered of a client, by its subject alone. */
  ofClient(subject: string): Value | undefined {
    return this.clients.get(subject);
  }

  clientEntries(): Generator<[string, Value]> {
    return this.clients.entries();
  }
}

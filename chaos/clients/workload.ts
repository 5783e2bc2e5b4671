import type { Random } from '../random.js';
import type { Outcome, PlannedRequest } from './exchange.js';
import type { KeyRing } from './key-ring.js';

type Draft = Omit<PlannedRequest, 'key' | 'abandonAfterMs' | 'heldMs'>;

const ABANDONED_SHARE = 0.02;
const KEPT = 300;
const STATUSES = ['available', 'pending', 'sold'];
const read = (path: string): Draft => ({
  method: 'GET',
  path,
  idempotencyKey: null,
  body: null,
  record: null,
});

/** Decides what a client sends next: a mix of reads, creations, retries, orders and errors. */
export class Workload {
  /** Identifiers of animals that were created. */
  private readonly animals: string[] = [];
  /** Creations with an Idempotency-Key that can be sent again, acknowledged or not. */
  private readonly repeatable: PlannedRequest[] = [];
  private created = 0;

  private readonly kinds: { weight: number; draft: () => Draft }[] = [
    { weight: 30, draft: () => read(`/v1/pets?limit=${this.random.integer(1, 5)}`) },
    { weight: 5, draft: () => read(`/v1/pets?limit=2&status=${this.random.pick(STATUSES)}`) },
    { weight: 25, draft: () => read(`/v1/pets/${this.animal()}`) },
    { weight: 15, draft: () => this.animalToCreate(false) },
    { weight: 8, draft: () => this.animalToCreate(true) },
    { weight: 4, draft: () => this.orderToPlace(this.random.chance(0.5)) },
    { weight: 5, draft: () => read('/v1/store/orders?limit=3') },
    { weight: 2, draft: () => ({ ...read('/v1/pets'), method: 'POST', body: '{"name":""}' }) },
    { weight: 1, draft: () => read('/v1/nowhere') },
    { weight: 1, draft: () => ({ ...read('/v1/pets'), method: 'DELETE' }) },
  ];

  constructor(
    private readonly client: string,
    private readonly random: Random,
    private readonly keys: KeyRing,
  ) {}

  next(): PlannedRequest {
    if (this.repeatable.length > 0 && this.random.chance(0.08)) {
      return this.repeat();
    }
    const abandonAfterMs = this.random.chance(ABANDONED_SHARE) ? this.random.integer(0, 15) : null;
    return { ...this.random.pickWeighted(this.kinds).draft(), key: this.keys.pick(), abandonAfterMs };
  }

  /** Returns a read that is cheap for the service, with a key of a quota with narrow limits. */
  nextOfBurst(): PlannedRequest {
    return { ...read('/v1/pets?limit=1'), key: this.keys.pickNarrow(), abandonAfterMs: null };
  }

  /**
   * Returns a creation that every client sends at the same time, with one Idempotency-Key; rarely one of them
   * with another body.
   */
  twin(name: string): PlannedRequest {
    const draft = this.draftAnimal(
      this.random.chance(0.05) ? `${name} of ${this.client}` : name,
      '7',
      'sold',
    );
    return { ...draft, idempotencyKey: name, key: this.keys.shared, abandonAfterMs: null };
  }

  /** Returns a creation whose body is held back for longer than a change takes until it has its effect. */
  held(): PlannedRequest {
    const heldMs = this.random.integer(1500, 5000);
    return { ...this.animalToCreate(false), key: this.keys.pick(), abandonAfterMs: null, heldMs };
  }

  /** Remembers what a response makes possible: animals to read, creations to repeat. */
  observe(planned: PlannedRequest, outcome: Outcome, recordId: string | null): void {
    if (recordId !== null && planned.path === '/v1/pets') {
      keep(this.animals, recordId);
    }
    const isOpen = outcome.status === null || [409, 429, 503].includes(outcome.status);
    if (planned.idempotencyKey !== null && (isOpen || this.random.chance(0.3))) {
      keep(this.repeatable, planned);
    }
  }

  /** Repeats a creation as it was, or rarely with another body. */
  private repeat(): PlannedRequest {
    const [planned] = this.repeatable.splice(this.random.integer(0, this.repeatable.length - 1), 1);
    const again = { ...(planned as PlannedRequest), abandonAfterMs: null };
    return this.random.chance(0.05)
      ? { ...again, ...this.draftAnimal(this.name(), '1'), idempotencyKey: again.idempotencyKey }
      : again;
  }

  private animalToCreate(isIdempotent: boolean): Draft {
    // Some identifiers need all 64 bits.
    const categoryId = this.random.chance(0.2)
      ? `-9223372036854775${this.random.integer(100, 807)}`
      : `${this.created}`;
    const status = this.random.chance(0.7) ? this.random.pick(STATUSES) : undefined;
    const draft = this.draftAnimal(this.name(), categoryId, status);
    return { ...draft, idempotencyKey: isIdempotent ? `once-${this.client}-${this.created}` : null };
  }

  private draftAnimal(name: string, categoryId: string, status?: string): Draft {
    const rest = status === undefined ? '' : `,"status":"${status}"`;
    return {
      method: 'POST',
      path: '/v1/pets',
      idempotencyKey: null,
      body: `{"name":${JSON.stringify(name)},"categoryId":${categoryId}${rest}}`,
      record: { name, categoryId, ...(status !== undefined && { status }) },
    };
  }

  private orderToPlace(isIdempotent: boolean): Draft {
    const [petId, quantity] = [this.animal(), this.random.integer(1, 1000)];
    const shipDate = this.random.chance(0.5) ? new Date(this.random.integer(0, 2 ** 42)).toISOString() : null;
    this.created += 1;
    return {
      method: 'POST',
      path: '/v1/store/orders',
      idempotencyKey: isIdempotent ? `order-${this.client}-${this.created}` : null,
      body:
        `{"petId":${petId},"quantity":${quantity}` +
        `${shipDate === null ? '' : `,"shipDate":"${shipDate}"`}}`,
      record: { petId, quantity, shipDate },
    };
  }

  private name(): string {
    this.created += 1;
    return `animal ${this.created} of ${this.client}`;
  }

  private animal(): string {
    return this.animals.length === 0 ? '1' : this.random.pick(this.animals);
  }
}

/** Adds an item, and drops the oldest one of too many. */
function keep<T>(list: T[], item: T): void {
  list.push(item);
  if (list.length > KEPT) {
    list.shift();
  }
}

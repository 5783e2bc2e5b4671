import createClient, { type Client } from 'openapi-fetch';
import { deprecationWarning } from './deprecation-warning.js';
import { exactNumber } from './exact-number.js';
import { parseJson, writeJson } from './json.js';
import { everyItem, nextCursor, type Page } from './pages.js';
import { type Platform, platformOf } from './platform.js';
import type { NewOrder, NewPet, Order, Pet, RateLimitStanding } from './resources.js';
import { type Budget, budgetOf } from './retry.js';
import { retryingFetch } from './retrying-fetch.js';
import type { operations, paths } from './schema.js';

/** Which animals, and which page of them. */
export type PetQuery = NonNullable<operations['listPets']['parameters']['query']>;
/** Which orders, and which page of them. */
export type OrderQuery = NonNullable<operations['listOrders']['parameters']['query']>;

/** What a client is made of. */
export interface AnimalStoreOptions extends Partial<Platform> {
  /** The address of the service with its version, such as `https://api.animal-store.example/v1`. */
  baseUrl: string;
  apiKey: string;
  /** Where it differs from 6 attempts within 90 seconds, each of 30 seconds at the most. */
  budget?: Partial<Budget>;
  /** Is told of deprecated operations that are called, each once per process. `console.warn` when not given. */
  warn?: (message: string) => void;
}

/** What may be said of any call. */
export interface CallOptions {
  /** Ends the call, while it waits too: it then rejects with the signal's reason. */
  signal?: AbortSignal | null;
}

/** What may be said of a call that creates something. */
export interface CreateOptions extends CallOptions {
  /**
   * Names this creation, so that it happens once. New for each call when not given; give your own where a call must be
   * made again after your process has ended, within 24 hours and with the same body.
   */
  idempotencyKey?: string;
}

/** The `limit` of a walk that is given none: the largest page there is takes the fewest requests. */
const LARGEST_PAGE = 100;

/** A line's end is no harm: a key may come from a file. */
const VISIBLE = /^\s*[\x21-\x7e]+\s*$/;

/** The answer to a call, its body as text. */
interface Answer {
  data?: string;
  response: Response;
}

/**
 * The Animal Store. Every call is tried again where that may help and is safe, waits as the service tells, and throws an
 * `AnimalStoreError` once its budget is used up. An int64 is a number where that holds all its digits, else a bigint; a
 * number that may have lost some is a `RangeError`, and is not sent.
 */
export class AnimalStore {
  private readonly client: Client<paths>;
  private readonly platform: Platform;
  private readonly budget: Budget;

  constructor({
    baseUrl,
    apiKey,
    budget,
    // oxlint-disable-next-line no-console
    warn = (message) => console.warn(message),
    ...own
  }: AnimalStoreOptions) {
    if (typeof apiKey !== 'string' || !VISIBLE.test(apiKey)) {
      // What it is instead is not said: it may be a key with a slip in it.
      throw new TypeError('apiKey is missing, or has a character that no key has');
    }
    this.platform = platformOf(own);
    this.budget = budgetOf(budget);
    this.client = createClient<paths>({
      baseUrl,
      headers: { Authorization: `Bearer ${apiKey}` },
      bodySerializer: writeJson,
    });
    this.client.use(deprecationWarning(warn));
  }

  /** One page of the animals, oldest first. */
  async listPets(query: PetQuery = {}, options: CallOptions = {}): Promise<Page<Pet>> {
    return pageOf(await this.client.GET('/pets', { params: { query }, ...this.sending(options) }));
  }

  /** All animals, page after page, oldest first. */
  pets(query: PetQuery = {}, options: CallOptions = {}): AsyncGenerator<Pet, void, undefined> {
    return everyItem((from) =>
      this.listPets({ ...query, limit: query.limit ?? LARGEST_PAGE, ...from }, options),
    );
  }

  /** Adds an animal, once. */
  async createPet(pet: NewPet, options: CreateOptions = {}): Promise<Pet> {
    const params = { header: once(options) };
    return bodyOf(await this.client.POST('/pets', { params, body: pet, ...this.sending(options) })) as Pet;
  }

  /**
   * One animal.
   *
   * @deprecated Removed on 5 December 2030. Use `pets()` or `listPets()` with the filter `status` instead.
   */
  async getPet(petId: number | bigint, options: CallOptions = {}): Promise<Pet> {
    const params = { path: { petId: exactNumber(petId, 'petId') } };
    return bodyOf(await this.client.GET('/pets/{petId}', { params, ...this.sending(options) })) as Pet;
  }

  /** One page of the orders that were placed with keys of the same quota, oldest first. Beta. */
  async listOrders(query: OrderQuery = {}, options: CallOptions = {}): Promise<Page<Order>> {
    return pageOf(await this.client.GET('/store/orders', { params: { query }, ...this.sending(options) }));
  }

  /** All those orders, page after page, oldest first. Beta. */
  orders(query: OrderQuery = {}, options: CallOptions = {}): AsyncGenerator<Order, void, undefined> {
    return everyItem((from) =>
      this.listOrders({ ...query, limit: query.limit ?? LARGEST_PAGE, ...from }, options),
    );
  }

  /** Places an order, once. Experimental: where the service does not offer it, the code is `not_found`. */
  async createOrder(order: NewOrder, options: CreateOptions = {}): Promise<Order> {
    const params = { header: once(options) };
    return bodyOf(
      await this.client.POST('/store/orders', { params, body: order, ...this.sending(options) }),
    ) as Order;
  }

  /** Where the key stands: its plan, its windows, its ban. Takes nothing from the windows. */
  async getRateLimit(options: CallOptions = {}): Promise<RateLimitStanding> {
    return bodyOf(await this.client.GET('/rate-limit', this.sending(options))) as RateLimitStanding;
  }

  /** How a call is sent: again and again, and its answer taken as text, which has all digits. */
  private sending({ signal }: CallOptions) {
    return {
      fetch: retryingFetch(this.platform, this.budget, signal ?? new AbortController().signal),
      parseAs: 'text',
    } as const;
  }
}

function once({ idempotencyKey = crypto.randomUUID() }: CreateOptions): { 'Idempotency-Key': string } {
  return { 'Idempotency-Key': idempotencyKey };
}

function bodyOf({ data = '' }: Answer): unknown {
  return parseJson(data);
}

function pageOf<Item>(answer: Answer): Page<Item> {
  return { items: bodyOf(answer) as Item[], nextCursor: nextCursor(answer.response.headers) };
}

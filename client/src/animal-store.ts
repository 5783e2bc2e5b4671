import { Admin } from './admin.js';
import type { ApiPromise } from './api-promise.js';
import type { Transport } from './call.js';
import type { CallOptions } from './call-options.js';
import { Connection } from './connection.js';
import { exactNumber } from './exact-number.js';
import type { Hooks } from './hooks.js';
import { Pacer } from './pacer.js';
import type { PagePromise } from './page-promise.js';
import { everyItem } from './pages.js';
import { pacerOf } from './pacer-registry.js';
import { type Platform, platformOf } from './platform.js';
import type {
  NewOrder,
  NewPet,
  Order,
  OwnDeprecatedCalls,
  OwnKey,
  Pet,
  RateLimitStatus,
  UsageTotals,
} from './resources.js';
import { type Budget, budgetOf } from './retry.js';
import type { operations, paths } from './schema.js';

/** Which animals, and which page of them. */
export type PetQuery = NonNullable<operations['listPets']['parameters']['query']>;
/** Which orders, and which page of them. */
export type OrderQuery = NonNullable<operations['listOrders']['parameters']['query']>;
/** The period of your usage, and which page of it. */
export type OwnUsageQuery = NonNullable<operations['listOwnUsage']['parameters']['query']>;

/** Options of a client. */
export interface AnimalStoreOptions extends Partial<Platform>, Hooks {
  /** The address of the service with its version, such as `https://api.animal-store.example/v1`. */
  baseUrl: string;
  apiKey: string;
  /**
   * Where it differs from 6 attempts within 90 seconds, each of 30 seconds at most. Without `limitWaitMs`, a call may spend all of its time
   * waiting for the limit.
   */
  budget?: Partial<Budget>;
  /** How many requests may be in flight at once. 8 by default. */
  maxInFlight?: number | undefined;
  /** Receives a warning for each deprecated operation that is called, once per process. `console.warn` by default. */
  warn?: (message: string) => void;
}

/** Options of a call that creates something. */
export interface CreateOptions extends CallOptions {
  /**
   * Names this creation, so that it happens once. New for each call by default. Give your own where a call must be
   * repeated after your process has ended, within 24 hours and with the same body.
   */
  idempotencyKey?: string | undefined;
}

/** The `limit` of a walk without one: the largest page takes the fewest requests. */
const LARGEST_PAGE = 100;
const MAX_IN_FLIGHT = 8;

/** Surrounding whitespace is allowed, as a key may come from a file that ends with a line break. */
const VISIBLE = /^\s*[\x21-\x7e]+\s*$/;

/**
 * The Animal Store. Calls are paced by the rate limit of the key, sent in the order of their arrival, and repeated where that
 * may help and is safe. A call throws an `AnimalStoreError` once its budget is used up. An int64 is a number where that holds
 * all its digits, else a bigint; a number that may have lost some is a `RangeError` and is not sent.
 */
export class AnimalStore {
  /** The operations of administration, which need a key with the role `admin`. */
  readonly admin: Admin;
  private readonly connection: Connection<paths>;

  /** @throws TypeError where `baseUrl` or `apiKey` is missing or malformed. */
  constructor({
    baseUrl,
    apiKey,
    budget,
    maxInFlight = MAX_IN_FLIGHT,
    // oxlint-disable-next-line no-console
    warn = (message) => console.warn(message),
    onRequest,
    onResponse,
    onRetry,
    ...platform
  }: AnimalStoreOptions) {
    if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) {
      throw new TypeError(
        'baseUrl must be the address of the service, such as https://api.animal-store.example/v1',
      );
    }
    if (typeof apiKey !== 'string' || !VISIBLE.test(apiKey)) {
      // Not shown, as it may be a key with a typing error.
      throw new TypeError('apiKey is missing, or has a character that no key has');
    }
    if (!Number.isInteger(maxInFlight) || maxInFlight < 1) {
      throw new RangeError('maxInFlight must be an integer of at least 1');
    }
    const ownPlatform = platformOf(platform);
    const transport: Transport = {
      platform: ownPlatform,
      budget: budgetOf(budget),
      hooks: { onRequest, onResponse, onRetry },
      maxInFlight,
      pacer: pacerOf(baseUrl, apiKey, ownPlatform),
      statusPacer: new Pacer(ownPlatform),
    };
    this.connection = new Connection(baseUrl, apiKey, warn, transport);
    this.admin = new Admin(new Connection(withoutVersion(baseUrl), apiKey, warn, transport));
  }

  /** Lists a page of the animals, oldest first. `for await` walks over this page and all after it. */
  listPets(query: PetQuery = {}, options: CallOptions = {}): PagePromise<Pet> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/pets', { params: { query }, ...sending }),
      (cursor) => this.listPets({ ...query, cursor }, options),
    );
  }

  /** Walks over all animals, oldest first, by the largest pages. */
  pets(query: PetQuery = {}, options: CallOptions = {}): AsyncGenerator<Pet, void, undefined> {
    return everyItem((from) =>
      this.listPets({ ...query, limit: query.limit ?? LARGEST_PAGE, ...from }, options),
    );
  }

  /** Adds an animal, once. */
  createPet(pet: NewPet, options: CreateOptions = {}): ApiPromise<Pet> {
    const params = { header: idempotencyHeader(options) };
    return this.connection.call(options, (client, sending) =>
      client.POST('/pets', { params, body: pet, ...sending }),
    );
  }

  /**
   * Gets an animal.
   *
   * @deprecated Removed on 5 December 2030. Use `pets()` or `listPets()` with the filter `status` instead.
   */
  getPet(petId: number | bigint, options: CallOptions = {}): ApiPromise<Pet> {
    return this.connection.call(options, async (client, sending) =>
      client.GET('/pets/{petId}', { params: { path: { petId: exactNumber(petId, 'petId') } }, ...sending }),
    );
  }

  /** Lists a page of the orders placed with keys of the same quota, oldest first. Beta. */
  listOrders(query: OrderQuery = {}, options: CallOptions = {}): PagePromise<Order> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/store/orders', { params: { query }, ...sending }),
      (cursor) => this.listOrders({ ...query, cursor }, options),
    );
  }

  /** Walks over all those orders, oldest first, by the largest pages. Beta. */
  orders(query: OrderQuery = {}, options: CallOptions = {}): AsyncGenerator<Order, void, undefined> {
    return everyItem((from) =>
      this.listOrders({ ...query, limit: query.limit ?? LARGEST_PAGE, ...from }, options),
    );
  }

  /** Places an order, once. Experimental: a service that does not offer it responds with `not_found`. */
  createOrder(order: NewOrder, options: CreateOptions = {}): ApiPromise<Order> {
    const params = { header: idempotencyHeader(options) };
    return this.connection.call(options, (client, sending) =>
      client.POST('/store/orders', { params, body: order, ...sending }),
    );
  }

  /** Gets the rate-limit status of the key: its plan, windows and ban. Does not count against the windows. */
  getRateLimit(options: CallOptions = {}): ApiPromise<RateLimitStatus> {
    return this.connection.call(options, (client, sending) => client.GET('/rate-limit', sending), {
      counted: false,
    });
  }

  /** Gets the key of this client: its name, plan, limits and expiry, and its successor while it is rotated. Beta. */
  getOwnKey(options: CallOptions = {}): ApiPromise<OwnKey> {
    return this.connection.call(options, (client, sending) => client.GET('/key', sending));
  }

  /** Lists a page of the usage of your quota by UTC minute, hour or day, newest first. Beta. */
  listOwnUsage(query: OwnUsageQuery = {}, options: CallOptions = {}): PagePromise<UsageTotals> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/usage', { params: { query }, ...sending }),
      (cursor) => this.listOwnUsage({ ...query, cursor }, options),
    );
  }

  /** Walks over all that usage, newest first, by the largest pages. Beta. */
  ownUsage(
    query: OwnUsageQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<UsageTotals, void, undefined> {
    return everyItem((from) =>
      this.listOwnUsage({ ...query, limit: query.limit ?? LARGEST_PAGE, ...from }, options),
    );
  }

  /** Lists the deprecated operations that keys of your quota called in the last 400 days. Beta. */
  listOwnDeprecatedCalls(options: CallOptions = {}): ApiPromise<OwnDeprecatedCalls[]> {
    return this.connection.call(options, (client, sending) => client.GET('/deprecations', sending));
  }
}

function idempotencyHeader({ idempotencyKey = crypto.randomUUID() }: CreateOptions): {
  'Idempotency-Key': string;
} {
  return { 'Idempotency-Key': idempotencyKey };
}

/** Administration stands beside the version, not below it. */
function withoutVersion(baseUrl: string): string {
  return baseUrl.replace(/\/v1\/?$/, '');
}

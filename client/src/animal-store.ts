import { Admin } from './admin.js';
import type { Transport } from './call.js';
import { Connection } from './connection.js';
import type { Hooks } from './hooks.js';
import { Operations, type paths } from './operations.js';
import { Pacer } from './pacer.js';
import { findPacer } from './pacer-registry.js';
import { completePlatform, type Platform } from './platform.js';
import { type Budget, completeBudget } from './retry.js';

/** Options of a client. */
export interface AnimalStoreOptions extends Partial<Platform>, Hooks {
  /** The address of the service with its version, such as `https://api.animal-store.example/v1`. */
  baseUrl: string;
  apiKey: string;
  /**
   * What differs from 6 attempts within 90 seconds, each of 30 seconds at most. Without `limitWaitMs`, a call
   * may spend all of its time waiting for the limit.
   */
  budget?: Partial<Budget>;
  /** How many requests may be in flight at once. 8 by default. */
  maxInFlight?: number | undefined;
  /**
   * Receives a warning for each deprecated operation that is called, once per process. `console.warn` by
   * default.
   */
  warn?: (message: string) => void;
}

const MAX_IN_FLIGHT = 8;

/** Surrounding whitespace is allowed, because a key may come from a file that ends with a line break. */
const VISIBLE = /^\s*[\x21-\x7e]+\s*$/;

/**
 * The Animal Store. Calls are paced by the rate limit of the key, sent in the order of their arrival, and
 * repeated if that may help and is safe. A call throws an `AnimalStoreError` once its budget is used up. An
 * int64 is a number if that holds all its digits, else a bigint; a number that may have lost some is a
 * `RangeError` and is not sent.
 */
export class AnimalStore extends Operations {
  /** The operations of administration, which need a key with the role `admin`. */
  readonly admin: Admin;
  protected readonly connection: Connection<paths>;

  /** @throws TypeError if `baseUrl` or `apiKey` is missing or malformed. */
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
    super();
    if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) {
      throw new TypeError(
        'baseUrl must be the address of the service, such as https://api.animal-store.example/v1',
      );
    }
    if (typeof apiKey !== 'string' || !VISIBLE.test(apiKey)) {
      // The message does not show it, because it may be a key with a typing error.
      throw new TypeError('apiKey is missing, or has a character that no key has');
    }
    if (!Number.isInteger(maxInFlight) || maxInFlight < 1) {
      throw new RangeError('maxInFlight must be an integer of at least 1');
    }
    const ownPlatform = completePlatform(platform);
    const transport: Transport = {
      platform: ownPlatform,
      budget: completeBudget(budget),
      hooks: { onRequest, onResponse, onRetry },
      maxInFlight,
      pacer: findPacer(baseUrl, apiKey, ownPlatform),
      statusPacer: new Pacer(ownPlatform),
    };
    this.connection = new Connection(baseUrl, apiKey, warn, transport);
    this.admin = new Admin(new Connection(withoutVersion(baseUrl), apiKey, warn, transport));
  }
}

/** Returns the address of administration, which is beside the version, not below it. */
function withoutVersion(baseUrl: string): string {
  return baseUrl.replace(/\/v1\/?$/, '');
}

import { AdminResources } from './admin-resources.js';
import type { Transport } from './call.js';
import { Connection } from './connection.js';
import type { ClientHooks } from './hooks.js';
import { Pacer } from './pacer.js';
import { findPacer } from './pacer-registry.js';
import { type ClientPlatform, completePlatform } from './platform.js';
import { type CallBudget, completeBudget } from './retry.js';
import { StoreResources } from './store-resources.js';

/** Options of a client. */
export interface AnimalStoreOptions extends Partial<ClientPlatform>, ClientHooks {
  /** The address of the service with its version, such as `https://api.animal-store.example/v1`. */
  baseUrl: string;
  apiKey: string;
  /**
   * Overrides the default: 6 attempts within 90 seconds, each of at most 30 seconds. Without
   * `maxRateLimitWaitMs`, a call may spend all of its time waiting for the limit.
   */
  budget?: Partial<CallBudget>;
  /** How many requests may be in flight at once. 8 by default. */
  maxConcurrentRequests?: number | undefined;
}

const MAX_CONCURRENT_REQUESTS = 8;

/** Surrounding whitespace is allowed, because a key may come from a file that ends with a line break. */
const VISIBLE = /^\s*[\x21-\x7e]+\s*$/;

/**
 * The Animal Store. Calls are paced by the rate limit of the key, sent in the order of their arrival, and
 * repeated if that may help and is safe. A call throws an `AnimalStoreError` once its budget is used up. An
 * int64 is a number if that holds all its digits, otherwise a bigint. A number that may have lost digits is
 * not sent, but throws a `RangeError`.
 */
export class AnimalStore extends StoreResources {
  /** The operations of administration, which need a key with the role `admin`. */
  readonly admin: AdminResources;

  /** @throws TypeError if `baseUrl` or `apiKey` is missing or malformed. */
  constructor({
    baseUrl,
    apiKey,
    budget,
    maxConcurrentRequests = MAX_CONCURRENT_REQUESTS,
    onRequest,
    onResponse,
    onRetry,
    // oxlint-disable-next-line no-console
    onDeprecation = ({ message }) => console.warn(message),
    ...platform
  }: AnimalStoreOptions) {
    if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) {
      throw new TypeError(
        'baseUrl must be the address of the service, such as https://api.animal-store.example/v1',
      );
    }
    if (typeof apiKey !== 'string' || !VISIBLE.test(apiKey)) {
      // The message does not show it, because it may be a key with a typing error.
      throw new TypeError('apiKey is missing, or has a character that no key has');
    }
    if (!Number.isInteger(maxConcurrentRequests) || maxConcurrentRequests < 1) {
      throw new RangeError('maxConcurrentRequests must be an integer of at least 1');
    }
    const ownPlatform = completePlatform(platform);
    const transport: Transport = {
      platform: ownPlatform,
      budget: completeBudget(budget),
      hooks: { onRequest, onResponse, onRetry },
      maxConcurrentRequests,
      pacer: findPacer(baseUrl, apiKey, ownPlatform),
      statusPacer: new Pacer(ownPlatform),
    };
    super(new Connection(baseUrl, apiKey, onDeprecation, transport));
    this.admin = new AdminResources(
      new Connection(withoutVersion(baseUrl), apiKey, onDeprecation, transport),
    );
  }
}

/** Returns the address of administration, which is beside the version, not below it. */
function withoutVersion(baseUrl: string): string {
  return baseUrl.replace(/\/v1\/?$/, '');
}

// What the package exports. Names stay within a major version, as `npm run check:compatibility` checks.

export type * from './admin-resources.js';
export { AnimalStore, type AnimalStoreOptions } from './animal-store.js';
export type { ApiPromise, ApiResponse } from './api-promise.js';
export type { CallOptions, IdempotentCallOptions } from './call-options.js';
export {
  AnimalStoreError,
  AuthenticationError,
  BannedError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RateLimitWaitError,
  TimeoutError,
  ValidationError,
} from './error.js';
export type {
  ClientDeprecationEvent,
  ClientHooks,
  ClientRequestEvent,
  ClientResponseEvent,
  ClientRetryEvent,
} from './hooks.js';
export type { PagePromise } from './page-promise.js';
export type { ResultPage } from './pages.js';
export type { ClientPlatform } from './platform.js';
export type { RateLimitWindow } from './rate-limit-headers.js';
export type { CallBudget } from './retry.js';
export type * from './store-resources.js';

export {
  type Admin,
  type AuditLog,
  type AuditQuery,
  type DeprecatedCallersQuery,
  type Deprecations,
  type KeyQuery,
  type Keys,
  type KeyUsageQuery,
  type OperationUsageQuery,
  type PlanQuery,
  type Plans,
  type Quotas,
  type ScopeSuggestionQuery,
  type TopUsageQuery,
  type UsageReports,
  type UsageTotalsQuery,
  type WhatIfQuery,
  type WebhookDeliveryQuery,
  type Webhooks,
} from './admin.js';
export type * from './admin-resources.js';
export { AnimalStore, type AnimalStoreOptions } from './animal-store.js';
export type { ApiPromise, ApiResponse } from './api-promise.js';
export type { CallOptions, CreateOptions } from './call-options.js';
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
export type { Hooks, RequestEvent, ResponseEvent, RetryEvent } from './hooks.js';
export type * from './operations.js';
export type { PagePromise } from './page-promise.js';
export type { Page } from './pages.js';
export type { Platform } from './platform.js';
export type { RateLimitWindow } from './rate-limit-headers.js';
export type { Budget } from './retry.js';

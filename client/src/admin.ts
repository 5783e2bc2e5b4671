import type {
  AuditEvent,
  DeprecatedCaller,
  Health,
  IssuedKey,
  Key,
  KeyLabel,
  KeyRestrictions,
  KeyUsage,
  KeyWithUsage,
  NewKey,
  NewWebhook,
  OperationUsage,
  Plan,
  PlanChange,
  PlanLimits,
  Rotation,
  ScopeSuggestion,
  TopUsage,
  UsageTotals,
  WhatIf,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookWithSecret,
} from './admin-resources.js';
import type { operations, paths } from './admin-schema.js';
import type { ApiPromise } from './api-promise.js';
import type { CallOptions } from './call-options.js';
import type { Connection } from './connection.js';
import type { RateLimitStatus } from './operations.js';
import type { PagePromise } from './page-promise.js';

type QueryOf<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

/** Selects keys, and a page of them. */
export type KeyQuery = QueryOf<'listKeys'>;
/** Selects a page of the plans. */
export type PlanQuery = QueryOf<'listPlans'>;
/** The range of usage from which scopes are suggested. */
export type ScopeSuggestionQuery = QueryOf<'getScopeSuggestion'>;
/** Selects usage by key and operation, and a page of it. */
export type KeyUsageQuery = QueryOf<'listUsageByKey'>;
/** Selects totals by period and range, and a page of them. */
export type UsageTotalsQuery = QueryOf<'listUsageTotals'>;
/** The period and range in which keys or quotas are compared, and a page of them. */
export type TopUsageQuery = QueryOf<'listTopUsage'>;
/** The period and range in which operations are compared, and a page of them. */
export type OperationUsageQuery = QueryOf<'listUsageByOperation'>;
/** Selects the limits that are tried, a plan's or two numbers, and the range. */
export type WhatIfQuery = QueryOf<'getWhatIf'>;
/** Selects audit events, and a page of them. */
export type AuditQuery = QueryOf<'listAudit'>;
/** Selects deliveries of a webhook, and a page of them. */
export type WebhookDeliveryQuery = QueryOf<'listWebhookDeliveries'>;
/** Selects a page of the keys that call deprecated operations. */
export type DeprecatedCallersQuery = QueryOf<'listDeprecatedCallers'>;

type AdminConnection = Connection<paths>;

/**
 * A request that the service may have carried out is not repeated: a second key or secret would be issued, or
 * a second event be sent.
 */
const CARRIED_OUT_ONCE = { repeatable: false };

/** The operations of administration, by resource. */
export class Admin {
  readonly keys: Keys;
  readonly quotas: Quotas;
  readonly plans: Plans;
  readonly usage: UsageReports;
  readonly deprecations: Deprecations;
  readonly webhooks: Webhooks;
  readonly audit: AuditLog;

  /** @internal */
  constructor(private readonly connection: AdminConnection) {
    this.keys = new Keys(connection);
    this.quotas = new Quotas(connection);
    this.plans = new Plans(connection);
    this.usage = new UsageReports(connection);
    this.deprecations = new Deprecations(connection);
    this.webhooks = new Webhooks(connection);
    this.audit = new AuditLog(connection);
  }

  /** Gets the health of the replica that responds. */
  health(options: CallOptions = {}): ApiPromise<Health> {
    return this.connection.call(options, (client, sending) => client.GET('/admin/health', sending));
  }
}

/** API keys. */
export class Keys {
  /** @internal */
  constructor(private readonly connection: AdminConnection) {}

  /**
   * Lists a page of the keys with their usage, oldest first unless `sort` has another order. `for await`
   * walks over this page and all after it.
   */
  list(query: KeyQuery = {}, options: CallOptions = {}): PagePromise<KeyWithUsage> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/admin/keys', { params: { query }, ...sending }),
      (cursor) => this.list({ ...query, cursor }, options),
    );
  }

  /** Gets a key with its usage, without the key itself. */
  get(id: string, options: CallOptions = {}): ApiPromise<KeyWithUsage> {
    return this.connection.call(options, (client, sending) =>
      client.GET('/admin/keys/{id}', { params: { path: { id } }, ...sending }),
    );
  }

  /**
   * Issues a key on a quota of its own. The key is shown this once. A request without a response is not
   * repeated, because a key may have been issued.
   */
  issue(key: NewKey, options: CallOptions = {}): ApiPromise<IssuedKey> {
    return this.connection.call(
      options,
      (client, sending) => client.POST('/admin/keys', { body: key, ...sending }),
      CARRIED_OUT_ONCE,
    );
  }

  /** Puts the quota of a key on a plan, with the limits given or those of the plan. */
  changePlan(id: string, change: PlanChange, options: CallOptions = {}): ApiPromise<Key> {
    return this.connection.call(options, (client, sending) =>
      client.PATCH('/admin/keys/{id}', { params: { path: { id } }, body: change, ...sending }),
    );
  }

  /** Sets the name of a key and the note on it; without a note, removes it. */
  label(id: string, label: KeyLabel, options: CallOptions = {}): ApiPromise<Key> {
    return this.connection.call(options, (client, sending) =>
      client.PUT('/admin/keys/{id}/label', { params: { path: { id } }, body: label, ...sending }),
    );
  }

  /** Changes what a key may do, and from where; what is left out stays, and null removes a restriction. */
  restrict(id: string, restrictions: KeyRestrictions, options: CallOptions = {}): ApiPromise<Key> {
    return this.connection.call(options, (client, sending) =>
      client.PATCH('/admin/keys/{id}/restrictions', {
        params: { path: { id } },
        body: restrictions,
        ...sending,
      }),
    );
  }

  /** Gets the scopes of a key's role, with the requests that needed them. */
  scopeSuggestion(
    keyId: string,
    query: ScopeSuggestionQuery = {},
    options: CallOptions = {},
  ): ApiPromise<ScopeSuggestion> {
    return this.connection.call(options, (client, sending) =>
      client.GET('/admin/keys/{keyId}/scope-suggestion', {
        params: { path: { keyId }, query },
        ...sending,
      }),
    );
  }

  /** Revokes a key of which you have only the key itself, at once and for good. */
  revokeLeaked(key: string, options: CallOptions = {}): ApiPromise<Key> {
    return this.connection.call(options, (client, sending) =>
      client.POST('/admin/keys/revoke', { body: { key }, ...sending }),
    );
  }

  /**
   * Issues a successor on the same quota. Both keys work until the overlap ends. Repeated no more than
   * `issue`.
   */
  rotate(id: string, rotation: Rotation = {}, options: CallOptions = {}): ApiPromise<IssuedKey> {
    return this.connection.call(
      options,
      (client, sending) =>
        client.POST('/admin/keys/{id}/rotate', { params: { path: { id } }, body: rotation, ...sending }),
      CARRIED_OUT_ONCE,
    );
  }

  /** Revokes a key at once and for good. */
  revoke(id: string, options: CallOptions = {}): ApiPromise<Key> {
    return this.connection.call(options, (client, sending) =>
      client.POST('/admin/keys/{id}/revoke', { params: { path: { id } }, ...sending }),
    );
  }

  /** Ends the ban of the quota of a key, if there is one. */
  unban(id: string, options: CallOptions = {}): ApiPromise<Key> {
    return this.connection.call(options, (client, sending) =>
      client.POST('/admin/keys/{id}/unban', { params: { path: { id } }, ...sending }),
    );
  }

  /** Gets the rate-limit status of the quota of a key. Takes nothing from its windows. */
  rateLimit(id: string, options: CallOptions = {}): ApiPromise<RateLimitStatus> {
    return this.connection.call(options, (client, sending) =>
      client.GET('/admin/keys/{id}/rate-limit', { params: { path: { id } }, ...sending }),
    );
  }

  /** Lists a page of the usage of a key, newest first. `for await` walks over this page and all after it. */
  usage(keyId: string, query: KeyUsageQuery = {}, options: CallOptions = {}): PagePromise<KeyUsage> {
    return this.connection.list(
      options,
      (client, sending) =>
        client.GET('/admin/keys/{keyId}/usage', { params: { path: { keyId }, query }, ...sending }),
      (cursor) => this.usage(keyId, { ...query, cursor }, options),
    );
  }
}

/** Quotas, which keys share. */
export class Quotas {
  /** @internal */
  constructor(private readonly connection: AdminConnection) {}

  /** Gets what other limits would have denied of the requests of a quota. */
  whatIf(quotaId: string, query: WhatIfQuery, options: CallOptions = {}): ApiPromise<WhatIf> {
    return this.connection.call(options, (client, sending) =>
      client.GET('/admin/quotas/{quotaId}/what-if', { params: { path: { quotaId }, query }, ...sending }),
    );
  }
}

/** Plans and their limits. */
export class Plans {
  /** @internal */
  constructor(private readonly connection: AdminConnection) {}

  /** Lists a page of the plans, by name. `for await` walks over this page and all after it. */
  list(query: PlanQuery = {}, options: CallOptions = {}): PagePromise<Plan> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/admin/plans', { params: { query }, ...sending }),
      (cursor) => this.list({ ...query, cursor }, options),
    );
  }

  /** Gets the limits of a plan. */
  get(plan: string, options: CallOptions = {}): ApiPromise<Plan> {
    return this.connection.call(options, (client, sending) =>
      client.GET('/admin/plans/{plan}', { params: { path: { plan } }, ...sending }),
    );
  }

  /** Sets the limits of a plan, which is created if it does not exist. */
  set(plan: string, limits: PlanLimits, options: CallOptions = {}): ApiPromise<Plan> {
    return this.connection.call(options, (client, sending) =>
      client.PUT('/admin/plans/{plan}', { params: { path: { plan } }, body: limits, ...sending }),
    );
  }
}

/** Usage of all keys. That of one key is `keys.usage`. */
export class UsageReports {
  /** @internal */
  constructor(private readonly connection: AdminConnection) {}

  /**
   * Lists a page of the usage by key and operation, newest first. `for await` walks over this page and all
   * after it.
   */
  list(query: KeyUsageQuery = {}, options: CallOptions = {}): PagePromise<KeyUsage> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/admin/usage', { params: { query }, ...sending }),
      (cursor) => this.list({ ...query, cursor }, options),
    );
  }

  /**
   * Lists a page of the totals of all keys or one by period, newest first. `for await` walks over this page
   * and all after it.
   */
  totals(query: UsageTotalsQuery = {}, options: CallOptions = {}): PagePromise<UsageTotals> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/admin/usage/totals', { params: { query }, ...sending }),
      (cursor) => this.totals({ ...query, cursor }, options),
    );
  }

  /**
   * Lists a page of the keys or quotas with the most requests, most first. `for await` walks over this page
   * and all after it.
   */
  top(query: TopUsageQuery = {}, options: CallOptions = {}): PagePromise<TopUsage> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/admin/usage/top', { params: { query }, ...sending }),
      (cursor) => this.top({ ...query, cursor }, options),
    );
  }

  /**
   * Lists a page of the requests for each operation, most first. `for await` walks over this page and all
   * after it.
   */
  operations(query: OperationUsageQuery = {}, options: CallOptions = {}): PagePromise<OperationUsage> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/admin/usage/operations', { params: { query }, ...sending }),
      (cursor) => this.operations({ ...query, cursor }, options),
    );
  }
}

/** Calls of deprecated operations. */
export class Deprecations {
  /** @internal */
  constructor(private readonly connection: AdminConnection) {}

  /**
   * Lists a page of the keys that call deprecated operations. `for await` walks over this page and all after
   * it.
   */
  list(query: DeprecatedCallersQuery = {}, options: CallOptions = {}): PagePromise<DeprecatedCaller> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/admin/deprecations', { params: { query }, ...sending }),
      (cursor) => this.list({ ...query, cursor }, options),
    );
  }
}

/** Receivers of events, and their deliveries. */
export class Webhooks {
  /** @internal */
  constructor(private readonly connection: AdminConnection) {}

  /** Lists all webhooks, oldest first. */
  list(options: CallOptions = {}): ApiPromise<Webhook[]> {
    return this.connection.call(options, (client, sending) => client.GET('/admin/webhooks', sending));
  }

  /** Creates a webhook. Its secret is shown this once. A request without a response is not repeated. */
  create(webhook: NewWebhook, options: CallOptions = {}): ApiPromise<WebhookWithSecret> {
    return this.connection.call(
      options,
      (client, sending) => client.POST('/admin/webhooks', { body: webhook, ...sending }),
      CARRIED_OUT_ONCE,
    );
  }

  /** Changes the URL of a webhook, its events, and whether it is paused; what is left out stays. */
  update(webhookId: string, change: WebhookChange, options: CallOptions = {}): ApiPromise<Webhook> {
    return this.connection.call(options, (client, sending) =>
      client.PATCH('/admin/webhooks/{webhookId}', {
        params: { path: { webhookId } },
        body: change,
        ...sending,
      }),
    );
  }

  /** Deletes a webhook with its deliveries. */
  delete(webhookId: string, options: CallOptions = {}): ApiPromise<Webhook> {
    return this.connection.call(options, (client, sending) =>
      client.DELETE('/admin/webhooks/{webhookId}', { params: { path: { webhookId } }, ...sending }),
    );
  }

  /** Replaces the secret. Both sign for 24 hours. Repeated no more than `create`. */
  rotateSecret(webhookId: string, options: CallOptions = {}): ApiPromise<WebhookWithSecret> {
    return this.connection.call(
      options,
      (client, sending) =>
        client.POST('/admin/webhooks/{webhookId}/rotate', { params: { path: { webhookId } }, ...sending }),
      CARRIED_OUT_ONCE,
    );
  }

  /** Queues a test event for a webhook, whatever its events. */
  test(webhookId: string, options: CallOptions = {}): ApiPromise<WebhookDelivery> {
    return this.connection.call(
      options,
      (client, sending) =>
        client.POST('/admin/webhooks/{webhookId}/test', { params: { path: { webhookId } }, ...sending }),
      CARRIED_OUT_ONCE,
    );
  }

  /**
   * Lists a page of the deliveries of a webhook, newest first. `for await` walks over this page and all after
   * it.
   */
  deliveries(
    webhookId: string,
    query: WebhookDeliveryQuery = {},
    options: CallOptions = {},
  ): PagePromise<WebhookDelivery> {
    return this.connection.list(
      options,
      (client, sending) =>
        client.GET('/admin/webhooks/{webhookId}/deliveries', {
          params: { path: { webhookId }, query },
          ...sending,
        }),
      (cursor) => this.deliveries(webhookId, { ...query, cursor }, options),
    );
  }

  /** Sends a delivery again that is not pending. */
  resend(webhookId: string, deliveryId: string, options: CallOptions = {}): ApiPromise<WebhookDelivery> {
    return this.connection.call(options, (client, sending) =>
      client.POST('/admin/webhooks/{webhookId}/deliveries/{deliveryId}/resend', {
        params: { path: { webhookId, deliveryId } },
        ...sending,
      }),
    );
  }
}

/** The record of what administrators do. */
export class AuditLog {
  /** @internal */
  constructor(private readonly connection: AdminConnection) {}

  /** Lists a page of the audit events, newest first. `for await` walks over this page and all after it. */
  list(query: AuditQuery = {}, options: CallOptions = {}): PagePromise<AuditEvent> {
    return this.connection.list(
      options,
      (client, sending) => client.GET('/admin/audit', { params: { query }, ...sending }),
      (cursor) => this.list({ ...query, cursor }, options),
    );
  }
}

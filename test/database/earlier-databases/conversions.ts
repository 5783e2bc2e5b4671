import { byText, canonical, type Row } from '../../support/database/catalog.js';

/** Makes of the rows of a table, as an earlier commit left them, those that the migrations since make. */
type Conversion = (rows: Row[], earlier: Record<string, Row[]>) => Row[];

const each =
  (convert: (row: Row, earlier: Record<string, Row[]>) => Row): Conversion =>
  (rows, earlier) =>
    rows.map((row) => convert(row, earlier));

/** Returns a row whose columns have new names. */
function rename(row: Row, names: Record<string, string>): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [names[name] ?? name, value]));
}

/** Returns the keys of a line up to one, the first first. */
function lineUpTo(key: Row, keys: Row[]): Row[] {
  const predecessor = keys.find(({ id }) => id === key['predecessor_id']);
  return [...(predecessor === undefined ? [] : lineUpTo(predecessor, keys)), key];
}

const nullIfEmpty = (list: string | null | undefined) => (list === '[]' ? null : (list ?? null));

/** Every operation whose name changed, with the name that it has now. */
export const RENAMED_OPERATIONS: Record<string, string> = {
  getOwnKey: 'getCurrentKey',
  rotateOwnKey: 'rotateCurrentKey',
  listOwnUsage: 'listUsage',
  listOwnDeprecatedCalls: 'listDeprecatedCalls',
  listTeamKeys: 'listFurtherKeys',
  issueTeamKey: 'issueFurtherKey',
  revokeTeamKey: 'revokeFurtherKey',
  listUsage: 'listUsageByKey',
  listUsageOfKey: 'listKeyUsage',
  listTopKeys: 'listTopUsage',
  listDeprecatedCalls: 'listDeprecatedCallers',
  suggestScopes: 'getScopeSuggestion',
  changePlan: 'updateQuota',
  labelKey: 'updateKey',
  restrictKey: 'updateKey',
  unbanKey: 'unbanQuota',
  getKeyRateLimit: 'getQuotaRateLimit',
  listAudit: 'listAuditEvents',
};

const COUNTS = ['succeeded', 'redirected', 'client_errors', 'server_errors', 'denied'];

/** Adds up the rows of operations that have one name now. */
const usage: Conversion = (rows) => {
  const merged = new Map<string, Row>();
  for (const earlier of rows) {
    const row = rename(earlier, { refusals: 'denied', last_at: 'last_request_at' });
    row['operation'] = RENAMED_OPERATIONS[row['operation'] ?? ''] ?? row['operation'] ?? null;
    const key = ['key_id', 'period', 'starts_at', 'operation', 'deprecated']
      .map((column) => row[column])
      .join(' ');
    const other = merged.get(key);
    if (other !== undefined) {
      COUNTS.forEach((column) => (row[column] = String(Number(row[column]) + Number(other[column]))));
      const last = [row, other].map(({ last_request_at: at }) => at ?? '').toSorted(byText);
      row['last_request_at'] = last.at(-1) ?? null;
    }
    merged.set(key, row);
  }
  return [...merged.values()];
};

interface JournalEntry {
  operation: string;
  refusals: number;
  lastAtMs: number;
}

const usageBatches = each((row) => {
  const entries = (JSON.parse(row['entries'] ?? '') as JournalEntry[]).map(
    ({ operation, refusals: denied, lastAtMs: lastRequestAtMs, ...entry }) => ({
      ...entry,
      operation: RENAMED_OPERATIONS[operation] ?? operation,
      denied,
      lastRequestAtMs,
    }),
  );
  return { ...row, entries: canonical(entries) };
});

const ACTIONS: Record<string, string> = {
  'key.labeled': 'key.updated',
  'key.restricted': 'key.updated',
  'key.plan_changed': 'quota.updated',
  'key.unbanned': 'quota.unbanned',
  'plan.changed': 'plan.updated',
  'webhook.changed': 'webhook.updated',
};

const EVENT_TYPES: Record<string, string> = {
  'quota.day_limit_80': 'quota.day_limit_approaching',
  'operation.deprecated_called': 'key.deprecated_operation_called',
};
const renameEvent = (type: string) => EVENT_TYPES[type] ?? type;

const FIELDS: Record<string, string> = {
  previousSecretEndsAt: 'previousSecretExpiresAt',
  delivery: 'deliveryId',
  event: 'eventType',
};

/** Returns the values that an action changed, with the names of now. */
function auditValues(text: string | null | undefined): string | null {
  if (text === null || text === undefined) {
    return null;
  }
  const values = Object.entries(JSON.parse(text) as Record<string, unknown>).map(([name, value]) => {
    if (name === 'ownLimits') {
      return ['limitsSource', value === true ? 'quota' : 'plan'];
    }
    const named = FIELDS[name] ?? name;
    if (named === 'eventType') {
      return [named, renameEvent(String(value))];
    }
    return [named, named === 'events' ? (value as string[]).map(renameEvent) : value];
  });
  return canonical(Object.fromEntries(values));
}

const auditEvents = each((row, { api_keys: keys = [] }) => {
  const { action, actor, subject, before, after, ...rest } = rename(row, { at: 'created_at' });
  const ofQuota = action === 'key.plan_changed' || action === 'key.unbanned';
  const quotaId = keys.find(({ id }) => subject === `key:${id}`)?.['quota_id'];
  const keyActor = actor?.startsWith('terminal:') === true ? actor : `key:${actor}`;
  return {
    ...rest,
    actor: actor === 'terminal' ? 'service' : keyActor,
    action: ACTIONS[action ?? ''] ?? action ?? null,
    subject: ofQuota ? `quota:${quotaId}` : (subject ?? null),
    before: auditValues(before),
    after: auditValues(after),
  };
});

const webhooks = each(({ paused, ...row }) => ({
  ...rename(row, { previous_secret_ends_at: 'previous_secret_expires_at' }),
  events: canonical((JSON.parse(row['events'] ?? '') as string[]).map(renameEvent)),
  paused_at: paused === 'true' ? (expect.any(String) as string) : null,
  pause_reason: paused === 'true' ? 'administrator' : null,
  quota_id: null,
  retry_after_at: null,
}));

const THRESHOLDS: Record<string, number> = { 'quota.day_limit_80': 80, 'quota.day_limit_reached': 100 };

/** Returns the payload of now: that of a quota has no key, and that of a key names it `keyName`. */
function convertPayload(text: string): string {
  const { type, timestamp, data } = JSON.parse(text);
  const { keyId, name: keyName, removedAt: sunsetAt, ...facts } = data;
  const ofKey = { ...(keyId && { keyId, keyName }), ...(sunsetAt && { sunsetAt }) };
  const ofQuota = type in THRESHOLDS ? { thresholdPercent: THRESHOLDS[type] } : {};
  return canonical({
    type: renameEvent(type),
    timestamp,
    data: { ...facts, ...(type.startsWith('quota.') ? ofQuota : ofKey) },
  });
}

const webhookDeliveries: Conversion = (rows) =>
  rows.map(({ event: type, event_key: key, payload, ...row }) => {
    const ofEvent = rows.filter(({ event_key }) => event_key === key).map(({ id }) => id ?? '');
    return {
      response_status: null,
      response_body: null,
      first_attempt_at: null,
      last_succeeded_at: null,
      withheld: 'false',
      ...row,
      event_type: renameEvent(type ?? ''),
      dedupe_key: `${renameEvent(type ?? '')}${key?.slice(type?.length)}`,
      payload: convertPayload(payload ?? ''),
      // The id of the first delivery of the event, unless an attempt sent that of this one.
      event_id: (row['last_attempt_at'] === null ? ofEvent.toSorted(byText)[0] : row['id']) ?? null,
    };
  });

/** By table. The rows of others stay as they are. */
export const CONVERSIONS: Record<string, Conversion> = {
  api_keys: (rows) =>
    rows.map((row) => {
      const line = lineUpTo(row, rows);
      return {
        issuer_id: null,
        ...rename(row, { issued_by: 'issuer_id' }),
        scopes: nullIfEmpty(row['scopes']),
        allowed_networks: nullIfEmpty(row['allowed_networks']),
        line_id: line[0]?.['id'] ?? null,
        generation: String(line.length - 1),
        suspended_at: null,
        first_used_at: null,
        former_line_id: null,
      };
    }),
  quotas: each((row) => ({ ...row, external_id: null })),
  plans: each((row) => ({ ...row, max_key_lifetime_days: null })),
  rate_limit_counters: each((row) => ({
    ban_threshold: null,
    ...rename(row, {
      minute: 'minute_number',
      day: 'day_number',
      refusals: 'minute_denied',
      requests: 'last_requests',
      allowed: 'last_allowed',
      denied: 'last_denied',
    }),
  })),
  stored_responses: each((row) => rename(row, { key: 'idempotency_key' })),
  usage,
  usage_batches: usageBatches,
  audit_events: auditEvents,
  webhooks,
  webhook_deliveries: webhookDeliveries,
};

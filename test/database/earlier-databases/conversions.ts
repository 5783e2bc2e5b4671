import type { Row } from '../../support/database/catalog.js';

/** What the migrations after an earlier commit make of the rows of a table. */
type Conversion = (rows: Row[], earlier: Record<string, Row[]>) => Row[];

/** Returns a row whose columns have new names. */
function rename(row: Row, names: Record<string, string>): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [names[name] ?? name, value]));
}

const nullIfEmpty = (list: string | null | undefined) => (list === '[]' ? null : (list ?? null));

const firstText = (texts: (string | null | undefined)[]) =>
  texts.reduce((first, text) => (String(text) < String(first) ? text : first)) ?? null;

/** By table. The rows of others stay as they are. */
export const CONVERSIONS: Record<string, Conversion> = {
  api_keys: (rows) =>
    rows.map((row) => ({
      issuer_id: null,
      ...rename(row, { issued_by: 'issuer_id' }),
      scopes: nullIfEmpty(row['scopes']),
      allowed_networks: nullIfEmpty(row['allowed_networks']),
    })),
  rate_limit_counters: (rows) =>
    rows.map((row) => ({
      ban_threshold: null,
      ...rename(row, { minute: 'minute_number', day: 'day_number', refusals: 'minute_denied' }),
    })),
  stored_responses: (rows) => rows.map((row) => rename(row, { key: 'idempotency_key' })),
  usage: (rows) => rows.map((row) => rename(row, { refusals: 'denied', last_at: 'last_request_at' })),
  audit_events: (rows) => rows.map((row) => rename(row, { at: 'created_at' })),
  webhooks: (rows) =>
    rows.map(({ paused, ...row }) => ({
      ...rename(row, { previous_secret_ends_at: 'previous_secret_expires_at' }),
      paused_at: paused === 'true' ? (expect.any(String) as string) : null,
      pause_reason: paused === 'true' ? 'administrator' : null,
    })),
  webhook_deliveries: (rows) =>
    rows.map((row) => ({
      response_status: null,
      response_body: null,
      ...rename(row, { event: 'event_type', event_key: 'dedupe_key' }),
      // The id of the first delivery of the event.
      event_id: firstText(rows.filter(({ event_key }) => event_key === row['event_key']).map(({ id }) => id)),
    })),
};

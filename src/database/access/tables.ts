/** What the service does with the rows of a table, as privileges of PostgreSQL. */
interface TableUse {
  /** Separated by ", ". Locks of rows, and of tables against other writers, require UPDATE. */
  privileges: string;
  /** The sequence of its identifiers, which requires USAGE. */
  sequence?: string;
  /** The condition of the index on them, if that has one. */
  indexed?: string;
}

/** The privileges on a table whose rows are changed and deleted. */
export const EVERY_PRIVILEGE = 'SELECT, INSERT, UPDATE, DELETE';

/**
 * The tables of the models. The health check reports what the service may not do with them. The counters are
 * not among them, as another role may count.
 */
export const TABLES: Readonly<Record<string, TableUse>> = {
  api_keys: { privileges: 'SELECT, INSERT, UPDATE' },
  audit_events: { privileges: 'SELECT, INSERT', sequence: 'audit_events_id_seq' },
  failed_request_minutes: { privileges: EVERY_PRIVILEGE },
  failed_requests: { privileges: EVERY_PRIVILEGE },
  orders: { privileges: 'SELECT, INSERT', sequence: 'orders_id_seq', indexed: 'quantity >= 1' },
  pets: { privileges: 'SELECT, INSERT', sequence: 'pets_id_seq' },
  plans: { privileges: 'SELECT, INSERT, UPDATE' },
  quotas: { privileges: 'SELECT, INSERT, UPDATE' },
  replicas: { privileges: EVERY_PRIVILEGE },
  stored_responses: { privileges: EVERY_PRIVILEGE },
  usage: { privileges: EVERY_PRIVILEGE },
  usage_batches: { privileges: EVERY_PRIVILEGE },
  webhook_deliveries: { privileges: EVERY_PRIVILEGE },
  webhooks: { privileges: EVERY_PRIVILEGE },
};

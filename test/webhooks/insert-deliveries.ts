import type { TestDatabase } from '../support/database/database.js';

/** Creates a webhook and its deliveries, all of which are due at once. */
export const insertDeliveries = (database: TestDatabase, url: string, count: number) =>
  database.query(
    `WITH webhook AS (
       INSERT INTO webhooks (id, url, events, secret)
       VALUES (gen_random_uuid(), $1, '{}', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') RETURNING id
     )
     INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, dedupe_key, payload)
     SELECT gen_random_uuid(), id, gen_random_uuid(), 'key.revoked', $1 || n, '{}'
     FROM webhook, generate_series(1, $2) AS n`,
    [url, count],
  );

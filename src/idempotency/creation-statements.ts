/** A column, and its type in PostgreSQL. */
export interface Column {
  name: string;
  type: string;
}

/** What the statements need of a resource. */
export interface CreationTarget {
  table: string;
  /** The path below which a record is read, for `Location`; null if it cannot be read. */
  path: string | null;
  /** The column of each field of a request. */
  columns: Record<string, Column>;
  /** The column that refers to the `id` of a table. The foreign key alone would fail the whole batch. */
  reference?: { column: string; table: string };
}

/**
 * Returns the statement that creates records for many requests: $1 and on are their columns, one array each.
 * It returns for each request the identifier of its record, or null if the request is not valid. It creates
 * all valid records or none.
 *
 * Identifiers are drawn before anything is written, in the order of the requests: the order in which INSERT
 * returns rows is not promised.
 */
export function createText({ table, columns, reference }: CreationTarget): string {
  const names = namesOf(columns);
  return `
    WITH request AS MATERIALIZED (
      SELECT nextval('${table}_id_seq') AS id, request.*, ${condition(reference)} AS is_valid
      FROM unnest(${arrays(columns, 1)}) WITH ORDINALITY AS request (${names}, number)
    ),
    created AS (
      INSERT INTO ${table} (id, ${names}) SELECT id, ${names} FROM request WHERE is_valid
    )
    SELECT CASE WHEN is_valid THEN id END AS id FROM request ORDER BY number`;
}

/**
 * Returns the statement that creates records for many requests, of which some have an `Idempotency-Key`: its
 * quota $1 and key $2, the fingerprint $3, and the JSON $4 of the record after its identifier. $5 and on are
 * the columns of the records. A key occurs once at most.
 *
 * It returns for each request whether its record was created, whether it is valid, whether a response stored
 * earlier is to the same request, and the body and the path of the new or the stored response. Without a
 * body, a request that is valid has the key of another in flight.
 *
 * The arrays are read by SELECTs of their own, which hide their length from the planner: otherwise it plans
 * each execution anew, which costs more than the execution. With generate_series it expects a thousand rows,
 * and hashes them where it joins.
 */
export function createOnceText({ table, path, columns, reference }: CreationTarget): string {
  const names = namesOf(columns);
  return `
    WITH request AS MATERIALIZED (
      SELECT request.*, ${condition(reference)} AS is_valid
      FROM
        ROWS FROM (
          generate_series(1, (SELECT cardinality($2::text[]))),
          unnest(
            (SELECT $1::uuid[]), (SELECT $2::text[]), (SELECT $3::bytea[]), (SELECT $4::text[]),
            ${arrays(columns, 5)}
          )
        ) AS request (number, owner_id, key, fingerprint, json, ${names})
    ),
    -- Waiting for a request in flight would delay all others, so a lock is tried, and held until the
    -- transaction ends.
    draft AS MATERIALIZED (
      SELECT
        *, '{"id":' || id || json AS body,
        ${path === null ? 'NULL' : `'${path}/' || id`} AS location
      FROM (
        SELECT nextval('${table}_id_seq') AS id, *
        FROM request
        WHERE is_valid
          AND (key IS NULL OR pg_try_advisory_xact_lock(hashtextextended(owner_id || ' ' || key, 0)))
        ORDER BY number
      ) AS numbered
    ),
    -- A response of the last 24 hours stays as it is. It is updated all the same, because RETURNING then
    -- returns it, also when it was committed after this statement began.
    stored AS (
      INSERT INTO stored_responses AS earlier (
        quota_id, idempotency_key, fingerprint, body, location, stored_at
      )
      SELECT
        owner_id, key, fingerprint, body, location,
        statement_timestamp()
      FROM draft
      WHERE key IS NOT NULL
      ON CONFLICT (quota_id, idempotency_key) DO UPDATE SET
        (fingerprint, body, location, stored_at) = (
          SELECT fingerprint, body, location, stored_at
          FROM (VALUES
            (false, earlier.fingerprint, earlier.body, earlier.location, earlier.stored_at),
            (true, EXCLUDED.fingerprint, EXCLUDED.body, EXCLUDED.location, EXCLUDED.stored_at)
          ) AS response (is_new, fingerprint, body, location, stored_at)
          WHERE is_new = (earlier.stored_at <= EXCLUDED.stored_at - interval '24 hours')
        )
      RETURNING quota_id AS owner_id, idempotency_key AS key, fingerprint, body, location
    ),
    result AS MATERIALIZED (
      SELECT
        draft.*, key IS NULL OR stored.body = draft.body AS is_created,
        stored.fingerprint = draft.fingerprint AS is_same,
        stored.body AS stored_body, stored.location AS stored_location
      FROM draft LEFT JOIN stored USING (owner_id, key)
    ),
    created AS (
      INSERT INTO ${table} (id, ${names}) SELECT id, ${names} FROM result WHERE is_created
    )
    SELECT
      coalesce(result.is_created, false) AS "isCreated",
      request.is_valid AS "isValid",
      coalesce(result.is_same, earlier.fingerprint = request.fingerprint) AS "isSame",
      coalesce(result.stored_body, result.body, earlier.body) AS body,
      coalesce(result.stored_location, result.location, earlier.location) AS location
    FROM
      request
      LEFT JOIN result USING (number)
      -- A request that is not valid any more gets its response all the same. OFFSET makes PostgreSQL read it
      -- for such requests alone.
      LEFT JOIN LATERAL (
        SELECT * FROM stored_responses AS stored
        WHERE
          NOT request.is_valid AND stored.quota_id = request.owner_id AND stored.idempotency_key = request.key
          AND stored.stored_at > statement_timestamp() - interval '24 hours'
        OFFSET 0
      ) AS earlier ON true
    ORDER BY number`;
}

/** Returns the SQL that is true for a valid request. */
function condition(reference: CreationTarget['reference']): string {
  if (reference === undefined) {
    return 'true';
  }
  const { column, table } = reference;
  return `(SELECT ${table}.id FROM ${table} WHERE ${table}.id = request.${column}) IS NOT NULL`;
}

function namesOf(columns: CreationTarget['columns']): string {
  return Object.values(columns)
    .map(({ name }) => name)
    .join(', ');
}

/** Returns the arrays of the columns, as parameters from this number on. */
function arrays(columns: CreationTarget['columns'], first: number): string {
  return Object.values(columns)
    .map(({ type }, index) => `(SELECT $${first + index}::${type}[])`)
    .join(', ');
}

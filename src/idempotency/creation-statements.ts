/** A column, and its type in PostgreSQL. */
interface Column {
  name: string;
  type: string;
  /** The table whose `id` it refers to. The foreign key alone would fail the whole batch. */
  refersTo?: string | undefined;
}

/**
 * Returns the statement that draws the identifiers of $1 rows, in ascending order. It need not reach the disk
 * before the rows do: until then, nobody has seen them.
 */
export const drawText = (table: string) => `
  SELECT nextval('${table}_id_seq') AS id
  FROM set_config('synchronous_commit', 'off', true), generate_series(1, (SELECT $1::int))`;

/**
 * Returns the statement that creates rows for many requests: $1 and on are the columns but for the
 * identifier, one array each. It returns for each request the identifier of its row, or null if the request
 * is not valid, and creates all valid rows or none.
 *
 * Identifiers are drawn before anything is written, in the order of the requests: the order in which INSERT
 * returns rows is not promised.
 */
export function createText(table: string, columns: Column[]): string {
  const names = namesOf(columns);
  return `
    WITH request AS MATERIALIZED (
      SELECT nextval('${table}_id_seq') AS id, request.*, ${condition(columns)} AS is_valid
      FROM unnest(${arrays(columns, 1)}) WITH ORDINALITY AS request (${names}, number)
    ),
    created AS (
      INSERT INTO ${table} (id, ${names}) SELECT id, ${names} FROM request WHERE is_valid
    )
    SELECT CASE WHEN is_valid THEN id END AS id FROM request ORDER BY number`;
}

/**
 * Returns the statement that creates rows for many requests, some with an `Idempotency-Key`. The parameters
 * are arrays: the quota $1 and the key $2, the fingerprint $3, the body $4 and the path $5 of the response,
 * the identifiers $6, and from $7 on the other columns of the rows. No key occurs twice.
 *
 * The statement returns for each request whether its row was created and whether it is valid; if the row was
 * not created, also the body and the path of the stored response, and whether that belongs to the same
 * request. A valid request without a body has the key of another request in flight.
 *
 * The arrays are read by SELECTs of their own, which hide their length from the planner: otherwise it plans
 * each execution anew, which costs more than the execution. With generate_series it expects a thousand rows,
 * and hashes them where it joins.
 */
export function createOnceText(table: string, columns: Column[]): string {
  const names = namesOf(columns);
  return `
    WITH request AS MATERIALIZED (
      SELECT request.*, ${condition(columns)} AS is_valid
      FROM
        ROWS FROM (
          generate_series(1, (SELECT cardinality($2::text[]))),
          unnest(
            (SELECT $1::uuid[]), (SELECT $2::text[]), (SELECT $3::bytea[]), (SELECT $4::text[]),
            (SELECT $5::text[]), (SELECT $6::bigint[]), ${arrays(columns, 7)}
          )
        ) AS request (
          number, owner_id, key, fingerprint, response_body, response_location, id, ${names}
        )
    ),
    -- Waiting for a request in flight would delay all others, so a lock is tried, and held until the
    -- transaction ends.
    draft AS MATERIALIZED (
      SELECT * FROM request
      WHERE is_valid
        AND (key IS NULL OR pg_try_advisory_xact_lock(hashtextextended(owner_id || ' ' || key, 0)))
    ),
    -- A response of the last 24 hours stays as it is. It is updated all the same, because RETURNING then
    -- returns it, even if it was committed after this statement began.
    stored AS (
      INSERT INTO stored_responses AS earlier (
        quota_id, idempotency_key, fingerprint, body, location, stored_at
      )
      SELECT
        owner_id, key, fingerprint, response_body, response_location,
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
    -- The body has the identifier, so it is that of no other request.
    result AS MATERIALIZED (
      SELECT
        draft.*, key IS NULL OR stored.body = draft.response_body AS is_created,
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
      CASE WHEN is_created THEN NULL ELSE coalesce(result.stored_body, earlier.body) END AS body,
      coalesce(result.stored_location, earlier.location) AS location
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

/** The SQL that is true for a valid request. For EXISTS, PostgreSQL would read all of the other table. */
const condition = (columns: Column[]) =>
  columns
    .filter(({ refersTo }) => refersTo !== undefined)
    .map(
      ({ name, refersTo }) =>
        `(SELECT other.id FROM ${refersTo} AS other WHERE other.id = request.${name}) IS NOT NULL`,
    )
    .join(' AND ') || 'true';

const namesOf = (columns: Column[]) => columns.map(({ name }) => name).join(', ');

/** The arrays of the columns, as parameters from this number on. */
const arrays = (columns: Column[], first: number) =>
  columns.map(({ type }, index) => `(SELECT $${first + index}::${type}[])`).join(', ');

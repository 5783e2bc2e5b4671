import { Batcher } from '../database/batcher.js';
import type { Clock } from '../settings/clock.js';
import { loadSql, namedStatement, type QueryRunner, type Statement } from '../database/query-runner.js';
import { ApiError } from '../errors/api-error.js';

const CREATE = loadSql(import.meta.url, 'create').text;
const CREATE_ONCE = loadSql(import.meta.url, 'create-once').text;
/** The parameters of `create-once.sql` before the columns of the records. */
const KEY_PARAMETERS = 4;
const KEY_REUSED =
  'This Idempotency-Key came with another request within the last 24 hours. Use a new one for each.';

/** What clients create: the records of a table whose `id` comes from the sequence `TABLE_id_seq`. */
export interface Resource<Input> {
  /** The name of its creations in metrics and traces. */
  name: string;
  table: string;
  /** An SQL expression of a record's JSON, by the columns that a request sets and `id`. */
  json: string;
  /** The path below which a record is read, for `Location`; null if it cannot be read. */
  path: string | null;
  /** The columns that a request sets: their type in PostgreSQL, and their value. */
  columns: Record<string, { type: string; value: (input: Input) => unknown }>;
  /** An SQL condition on the columns of `request`, and the error of a request that does not meet it. */
  condition?: { sql: string; error: (input: Input) => Error };
}

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  quotaId: string;
  key: string;
  /** SHA-256 of the request's method, path and body. */
  fingerprint: Buffer;
}

/** The response 201 to a request that creates a record. */
export interface CreationResponse {
  /** The record as JSON. */
  body: string;
  location: string | null;
  /** Whether it is the response stored for an earlier request with the same `Idempotency-Key`. */
  isReplay: boolean;
}

interface Creation<Input> {
  input: Input;
  idempotent: IdempotentRequest | null;
}

type Result = CreationResponse | Error;

type Row = [body: string | null, location: string | null];
type OnceRow = [isCreated: boolean, isValid: boolean, isSame: boolean | null, ...Row];

/**
 * Creates the records of one resource in batches, each by one statement that creates all or none. A creation with an
 * `Idempotency-Key` is rejected with ApiError `idempotency_conflict` or `idempotency_key_reused`; a key must not be loaded
 * again while it is in flight here.
 */
export class CreationBatcher<Input> extends Batcher<Creation<Input>, CreationResponse> {
  private readonly create: Statement;
  private readonly createOnce: Statement;

  constructor(
    private readonly resource: Resource<Input>,
    private readonly queries: QueryRunner,
    private readonly clock: Clock,
  ) {
    super(
      (creations) =>
        creations.some(({ idempotent }) => idempotent !== null)
          ? this.runOnce(creations)
          : this.run(creations),
      { name: resource.name, maxInFlight: queries.maxInFlight },
    );
    this.create = namedStatement(resource.name, statementText(CREATE, resource, 0));
    this.createOnce = namedStatement(
      `${resource.name}-once`,
      statementText(CREATE_ONCE, resource, KEY_PARAMETERS),
    );
  }

  private async run(creations: Creation<Input>[]): Promise<Result[]> {
    const rows = await this.queries.run<Row>(this.create, this.toColumns(creations));
    return rows.map(([body, location], index) =>
      body === null ? this.invalid(creations[index]!) : { body, location, isReplay: false },
    );
  }

  private async runOnce(creations: Creation<Input>[]): Promise<Result[]> {
    const all = <Field extends keyof IdempotentRequest>(field: Field) =>
      creations.map(({ idempotent }) => idempotent?.[field] ?? null);
    const rows = await this.queries.run<OnceRow>(this.createOnce, [
      all('quotaId'),
      all('key'),
      all('fingerprint'),
      this.clock.storeOffsetMs / 1000,
      ...this.toColumns(creations),
    ]);
    return rows.map((row, index) => toResult(row) ?? this.invalid(creations[index]!));
  }

  private invalid({ input }: Creation<Input>): Error {
    return this.resource.condition?.error(input) ?? new Error(`${this.resource.name} returned no record`);
  }

  private toColumns(creations: Creation<Input>[]): unknown[][] {
    return Object.values(this.resource.columns).map(({ value }) =>
      creations.map(({ input }) => value(input)),
    );
  }
}

function statementText<Input>(
  template: string,
  { table, json, path, columns, condition }: Resource<Input>,
  parametersBefore: number,
): string {
  const arrays = Object.values(columns).map(
    ({ type }, index) => `(SELECT $${parametersBefore + index + 1}::${type}[])`,
  );
  return template
    .replaceAll('{table}', table)
    .replaceAll('{columns}', Object.keys(columns).join(', '))
    .replaceAll('{arrays}', arrays.join(', '))
    .replaceAll('{json}', json)
    .replaceAll('{location}', path === null ? 'NULL' : `'${path}/' || id`)
    .replaceAll('{is_valid}', condition?.sql ?? 'true');
}

/** Returns null when the request does not meet the condition of its resource. */
function toResult([isCreated, isValid, isSame, body, location]: OnceRow): Result | null {
  if (body === null) {
    return isValid ? conflict() : null;
  }
  return isCreated || isSame === true
    ? { body, location, isReplay: !isCreated }
    : new ApiError('idempotency_key_reused', KEY_REUSED);
}

/** Returns the error of a request with the `Idempotency-Key` of a request in flight. */
export function conflict(): ApiError {
  const message =
    'A request with this Idempotency-Key is still in progress. Send the same again shortly for its response.';
  return new ApiError('idempotency_conflict', message);
}

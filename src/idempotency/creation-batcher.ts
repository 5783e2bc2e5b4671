import type { z } from 'zod';
import { hasCode } from '../database/access/availability.js';
import { Batcher } from '../database/batches/batcher.js';
import type { PrismaService } from '../database/access/prisma.service.js';
import { namedStatement, type Statement } from '../database/access/statement.js';
import { ApiError } from '../http/routes/api-error.js';
import { serializerSchema } from '../schemas/json-schema.js';
import { jsonWriter } from '../schemas/json-writer.js';
import { type Column, createOnceText, createText, type CreationTarget } from './creation-statements.js';

const KEY_REUSED =
  'This Idempotency-Key was used for another request within the last 24 hours. Use a new one for each.';
/** The SQLSTATE of a violated foreign key. */
const FOREIGN_KEY = /^23503$/;
/** A record without an identifier begins so: PostgreSQL draws the identifiers. */
const NO_ID = '{"id":0';

/** What clients create: the records of a table whose `id` comes from the sequence `TABLE_id_seq`. */
export interface Resource<Input> extends CreationTarget {
  /** The name of its creations in metrics and traces. */
  name: string;
  /** Writes the record of a response; its first property is `id`. */
  schema: z.ZodType;
  /** Returns the record that a request creates, as responses show it. */
  record: (input: Input, id: bigint) => object;
  columns: { [Field in keyof Required<Input>]: Column };
  /**
   * The record of another table that a record belongs to: its field, and the noun in the error if that record
   * does not exist.
   */
  reference?: NonNullable<CreationTarget['reference']> & { field: keyof Input & string; noun: string };
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

interface OnceRow {
  isCreated: boolean;
  isValid: boolean;
  isSame: boolean | null;
  body: string | null;
  location: string | null;
}

/**
 * Creates the records of one resource in batches, each by one statement that creates all or none. A creation
 * with an `Idempotency-Key` is rejected with ApiError `idempotency_conflict` or `idempotency_key_reused`; a
 * key must not be loaded again while it is in flight here.
 */
export class CreationBatcher<Input> extends Batcher<Creation<Input>, CreationResponse> {
  private readonly create: Statement<{ id: bigint | null }>;
  private readonly createOnce: Statement<OnceRow>;
  private readonly write: (record: unknown) => string;

  constructor(
    private readonly resource: Resource<Input>,
    private readonly prisma: PrismaService,
  ) {
    super(
      (creations) =>
        creations.some(({ idempotent }) => idempotent !== null)
          ? this.runOnce(creations)
          : this.run(creations),
      { name: resource.name, maxInFlight: prisma.batchesInFlight() },
    );
    this.create = namedStatement(resource.name, createText(resource));
    this.createOnce = namedStatement(`${resource.name}-once`, createOnceText(resource));
    this.write = jsonWriter(serializerSchema(resource.schema));
  }

  override load(creation: Creation<Input>): Promise<CreationResponse> {
    return this.resource.reference === undefined ? super.load(creation) : this.loadChecked(creation);
  }

  private async loadChecked(creation: Creation<Input>): Promise<CreationResponse> {
    try {
      return await super.load(creation);
    } catch (error) {
      if (hasCode(error, FOREIGN_KEY)) {
        // The other record was deleted by hand after its check. The next check misses it.
        return super.load(creation);
      }
      throw error;
    }
  }

  private async run(creations: Creation<Input>[]): Promise<Result[]> {
    const { path, record } = this.resource;
    const rows = await this.prisma.query(this.create, ...this.toColumns(creations));
    return creations.map(({ input }, index) => {
      const id = rows[index]?.id ?? null;
      if (id === null) {
        return this.invalid(input);
      }
      const body = this.write(record(input, id));
      return { body, location: path === null ? null : `${path}/${id}`, isReplay: false };
    });
  }

  private async runOnce(creations: Creation<Input>[]): Promise<Result[]> {
    const idempotent = creations.map((creation) => creation.idempotent);
    const rows = await this.prisma.query(
      this.createOnce,
      idempotent.map((request) => request?.quotaId ?? null),
      idempotent.map((request) => request?.key ?? null),
      idempotent.map((request) => request?.fingerprint ?? null),
      creations.map(({ input }) => this.writeWithoutId(input)),
      ...this.toColumns(creations),
    );
    return rows.map((row, index) => toResult(row) ?? this.invalid(creations[index]!.input));
  }

  /** Returns the JSON of a record after its identifier. */
  private writeWithoutId(input: Input): string {
    const json = this.write(this.resource.record(input, 0n));
    if (!json.startsWith(NO_ID)) {
      throw new Error(`The schema of ${this.resource.table} must begin with id`);
    }
    return json.slice(NO_ID.length);
  }

  private invalid(input: Input): Error {
    const { reference, name } = this.resource;
    if (reference === undefined) {
      return new Error(`${name} returned no record`);
    }
    const { field, noun } = reference;
    const message = `The request is invalid: ${field}: no ${noun} has the id ${String(input[field])}.`;
    return new ApiError('invalid_request', message);
  }

  private toColumns(creations: Creation<Input>[]): unknown[][] {
    const fields = Object.keys(this.resource.columns) as (keyof Input)[];
    return fields.map((field) => creations.map(({ input }) => input[field] ?? null));
  }
}

/** Returns null if there is no record that the new one would belong to. */
function toResult({ isCreated, isValid, isSame, body, location }: OnceRow): Result | null {
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
    'A request with this Idempotency-Key is still in progress. Send it again shortly to get its response.';
  return new ApiError('idempotency_conflict', message);
}

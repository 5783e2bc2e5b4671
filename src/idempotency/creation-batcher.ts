import { hasCode } from '../database/access/availability.js';
import { Batcher } from '../database/batches/batcher.js';
import type { PrismaService } from '../database/access/prisma.service.js';
import { namedStatement, type Statement } from '../database/access/statement.js';
import { COLUMNS } from '../database/generated/columns.js';
import { ApiError } from '../http/routes/api-error.js';
import { usualMessages } from '../http/routes/catalogue.js';
import { createOnceText, createText, drawText } from './creation-statements.js';

/** The SQLSTATE of a violated foreign key. */
const FOREIGN_KEY = /^23503$/;

/** What clients create: the rows of a table whose `id` comes from the sequence `TABLE_id_seq`. */
export interface Resource<Row, View> {
  /** The name of its creations in metrics and traces. */
  name: string;
  table: string;
  /** Returns the record that responses show. */
  toRecord: (row: Row) => View;
  /** The record of another table that a row belongs to, and its noun in the error if that does not exist. */
  reference?: { field: keyof Omit<Row, 'id'> & string; table: string; noun: string };
}

/** The response 201 to a request that creates a record. */
export class Created {
  constructor(
    /** The record as JSON. */
    readonly body: string,
    readonly location: string | null,
  ) {}
}

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest<View> {
  quotaId: string;
  key: string;
  /** SHA-256 of the request's method, path and body. */
  fingerprint: Buffer;
  /** Returns the response that creates this record. Its body has the `id`. */
  respondWith: (record: View) => Created;
}

interface Creation<Row, View> {
  row: Omit<Row, 'id'>;
  idempotent: IdempotentRequest<View> | null;
}

interface OnceRow {
  isCreated: boolean;
  isValid: boolean;
  isSame: boolean | null;
  body: string | null;
  location: string | null;
}

/**
 * Creates the rows of one resource in batches, each of which creates all or none. It returns
 * the record, or the response stored for an earlier request with the same `Idempotency-Key`. A creation with
 * a key is rejected with ApiError `idempotency_conflict` or `idempotency_key_reused`; a key must not be
 * loaded again while it is in flight here.
 */
export class CreationBatcher<Row extends { id: bigint }, View extends { id: bigint }> extends Batcher<
  Creation<Row, View>,
  View | Created
> {
  private readonly fields: (keyof Omit<Row, 'id'>)[];
  private readonly draw: Statement<{ id: bigint }>;
  private readonly create: Statement<{ id: bigint | null }>;
  private readonly createOnce: Statement<OnceRow>;

  constructor(
    private readonly resource: Resource<Row, View>,
    private readonly prisma: PrismaService,
  ) {
    const { name, table, reference } = resource;
    super((creations) => this.run(creations), { name, client: prisma });
    const columns = COLUMNS.filter(({ relation, field }) => relation === table && field !== 'id').map(
      (column) => ({
        ...column,
        refersTo: column.field === reference?.field ? reference.table : undefined,
      }),
    );
    this.fields = columns.map(({ field }) => field as keyof Omit<Row, 'id'>);
    this.create = namedStatement(name, createText(table, columns));
    this.draw = namedStatement(`${name}-ids`, drawText(table));
    this.createOnce = namedStatement(`${name}-once`, createOnceText(table, columns));
  }

  override async load(creation: Creation<Row, View>): Promise<View | Created> {
    try {
      return await super.load(creation);
    } catch (error) {
      if (hasCode(error, FOREIGN_KEY)) {
        // The other record was deleted by hand after the check. The next check finds that it is missing.
        return super.load(creation);
      }
      throw error;
    }
  }

  private run(creations: Creation<Row, View>[]): Promise<(View | Created | Error)[]> {
    const columns = this.fields.map((field) => creations.map(({ row }) => row[field]));
    return creations.some(({ idempotent }) => idempotent !== null)
      ? this.runWithKeys(creations, columns)
      : this.runPlain(creations, columns);
  }

  private async runPlain(creations: Creation<Row, View>[], columns: unknown[][]): Promise<(View | Error)[]> {
    const created = await this.prisma.sql.query(this.create, ...columns);
    return creations.map(({ row }, index) => {
      const id = created[index]?.id ?? null;
      return id === null ? this.invalid(row) : this.resource.toRecord({ ...row, id } as Row);
    });
  }

  private async runWithKeys(
    creations: Creation<Row, View>[],
    columns: unknown[][],
  ): Promise<(View | Created | Error)[]> {
    // The stored response has the identifier.
    const ids = (await this.prisma.sql.query(this.draw, creations.length)).map(({ id }) => id);
    const records = creations.map(({ row }, index) =>
      this.resource.toRecord({ ...row, id: ids[index]! } as Row),
    );
    const idempotent = creations.map((creation) => creation.idempotent);
    const responses = idempotent.map((request, index) => request?.respondWith(records[index]!));
    const outcomes = await this.prisma.sql.query(
      this.createOnce,
      idempotent.map((request) => request?.quotaId ?? null),
      idempotent.map((request) => request?.key ?? null),
      idempotent.map((request) => request?.fingerprint ?? null),
      responses.map((response) => response?.body ?? null),
      responses.map((response) => response?.location ?? null),
      ids,
      ...columns,
    );
    return outcomes.map(({ isCreated, isValid, isSame, body, location }, index) => {
      if (isCreated) {
        return records[index]!;
      }
      if (body === null) {
        return isValid ? idempotencyConflict() : this.invalid(creations[index]!.row);
      }
      return isSame === true
        ? new Created(body, location)
        : new ApiError('idempotency_key_reused', usualMessages.idempotency_key_reused);
    });
  }

  private invalid(row: Omit<Row, 'id'>): Error {
    const { reference, name } = this.resource;
    if (reference === undefined) {
      return new Error(`${name} returned no record`);
    }
    const { field, noun } = reference;
    const message = `The request is invalid: ${field}: no ${noun} has the id ${String(row[field])}.`;
    return new ApiError('invalid_request', message);
  }
}

/** Returns the error of a request with the `Idempotency-Key` of a request in flight. */
export function idempotencyConflict(): ApiError {
  return new ApiError('idempotency_conflict', usualMessages.idempotency_conflict);
}

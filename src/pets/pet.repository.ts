import { Injectable } from '@nestjs/common';
import { Batcher } from '../batcher.js';
import { loadSql, namedStatement, QueryRunner } from '../database/query-runner.js';
import { MIN_INT64 } from '../http/int64.js';
import type { CreationBatcher, CreationResult, IdempotentRequest } from '../idempotency/creation-batcher.js';
import { IdempotencyStore } from '../idempotency/idempotency.store.js';
import { BatchMetrics } from '../batch-metrics.js';
import type { NewPet, PetStatus } from './pet.schemas.js';

const AS_JSON = loadSql(import.meta.url, 'pets-as-json').text;
// A parameter in a SELECT of its own, here and in pages-of-pets.sql, has PostgreSQL keep one plan for all its values.
const FIND = namedStatement('find-pets', `${AS_JSON} WHERE id = ANY ((SELECT $1::bigint[])::bigint[])`);
const PAGE = namedStatement(
  'page-of-pets',
  `${AS_JSON} WHERE id > (SELECT $1::bigint) ORDER BY id LIMIT (SELECT $2::int)`,
);
/** Compares both columns of the index, as `pages-of-pets.sql` does. */
const PAGE_OF_STATUS = namedStatement(
  'page-of-pets-of-status',
  `${AS_JSON} WHERE (status, id) > ((SELECT $3::pet_status), (SELECT $1::bigint)) AND status <= (SELECT $3::pet_status)
   ORDER BY status, id LIMIT (SELECT $2::int)`,
);
const PAGES = loadSql(import.meta.url, 'pages-of-pets');

/** Pages that one question reads at the most: of 100 animals each, as much as is read in a moment. */
const PAGES_AT_ONCE = 64;
/** A single page of up to so many animals costs less in all as one row for each, joined here, than written by PostgreSQL as a whole. */
const SHORT_PAGE = 32;
/** Of each kind. With those that create, all together leave connections to keys and usage (`poolSizes`). */
const QUESTIONS_UNDER_WAY = 2;

type Row = [id: string, json: string];

/** Which animals a page shows: `limit` of them, after the one of identifier `after`, oldest first. */
export interface PageRequest {
  limit: number;
  status?: PetStatus | undefined;
  after?: bigint | undefined;
}

/** One page. All who asked for the same at the same time are given the same object. */
export interface PetPage {
  /** The animals as a JSON array. */
  body: string;
  /** The identifier of the last animal, if more follow; else null. */
  lastId: string | null;
  /** The headers that the first who asked has made of it. */
  links?: string;
  tag?: string;
}

/** The animals. Those who ask at the same time are served by one question to the database. */
@Injectable()
export class PetRepository {
  private readonly pages = new Batcher((asks: PageRequest[]) => this.readPages(asks), {
    name: PAGE.name,
    maxBatch: PAGES_AT_ONCE,
    maxInFlight: QUESTIONS_UNDER_WAY,
  });
  private readonly finds = new Batcher((ids: bigint[]) => this.findAll(ids), {
    name: FIND.name,
    maxInFlight: QUESTIONS_UNDER_WAY,
  });
  private readonly creations: CreationBatcher<NewPet>;
  /** All that was asked of the database for many at once, by kind. */
  readonly questions: BatchMetrics[];

  constructor(
    private readonly statements: QueryRunner,
    store: IdempotencyStore,
  ) {
    this.creations = store.batcher<NewPet>({
      name: 'add-pets',
      table: 'pets',
      columns: {
        name: { type: 'text', value: ({ name }) => name },
        category_id: { type: 'bigint', value: ({ categoryId }) => categoryId },
        status: { type: 'pet_status', value: ({ status }) => status ?? null },
      },
    });
    this.questions = [this.pages.metrics, this.finds.metrics, this.creations.metrics];
  }

  /** @throws the database's error. */
  page(request: PageRequest): Promise<PetPage> {
    return this.pages.load(request);
  }

  /**
   * The animal as JSON text, or null when there is none.
   *
   * @throws the database's error.
   */
  find(id: bigint): Promise<string | null> {
    return this.finds.load(id);
  }

  /**
   * Creates an animal.
   *
   * @param idempotent of a request with an `Idempotency-Key`.
   * @returns its identifier, or the response to an earlier request with the same key.
   * @throws ApiError `idempotency_conflict`, `idempotency_key_reused`; the database's error.
   */
  create(input: NewPet, idempotent: IdempotentRequest | null = null): Promise<CreationResult> {
    return this.creations.load({ input, idempotent });
  }

  private async readPages(requests: PageRequest[]): Promise<PetPage[]> {
    const numbers = new Map<string, number>();
    const distinct: PageRequest[] = [];
    const places = requests.map((request) => {
      const name = nameOf(request);
      const number = numbers.get(name) ?? distinct.push(request) - 1;
      numbers.set(name, number);
      return number;
    });
    const [first] = distinct as [PageRequest, ...PageRequest[]];
    const isShort = distinct.length === 1 && first.limit <= SHORT_PAGE;
    const pages = isShort ? [await this.readPage(first)] : await this.readAll(distinct);
    return places.map((number) => pages[number] as PetPage);
  }

  private async readPage({ limit, status, after = MIN_INT64 }: PageRequest): Promise<PetPage> {
    // One animal more tells whether there is a next page.
    const values = [after, limit + 1];
    const rows = await (status === undefined
      ? this.statements.run<Row>(PAGE, values)
      : this.statements.run<Row>(PAGE_OF_STATUS, [...values, status]));
    const shown = rows.slice(0, limit);
    const body = `[${shown.map(([, json]) => json).join(',')}]`;
    return { body, lastId: rows.length > limit ? (shown.at(-1)?.[0] ?? null) : null };
  }

  private async readAll(pages: PageRequest[]): Promise<PetPage[]> {
    const rows = await this.statements.run<[number: number, body: string, lastId: string | null]>(PAGES, [
      pages.map((_page, number) => number),
      pages.map(({ after }) => after ?? MIN_INT64),
      pages.map(({ status }) => status ?? null),
      pages.map(({ limit }) => limit),
    ]);
    const read: PetPage[] = [];
    for (const [number, body, lastId] of rows) {
      read[number] = { body, lastId };
    }
    return read;
  }

  private async findAll(ids: bigint[]): Promise<(string | null)[]> {
    const found = new Map(await this.statements.run<Row>(FIND, [ids]));
    return ids.map((id) => found.get(String(id)) ?? null);
  }
}

/** The same for the same page. */
function nameOf({ limit, status, after }: PageRequest): string {
  return `${status}:${after}:${limit}`;
}

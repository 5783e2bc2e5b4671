import { Injectable } from '@nestjs/common';
import { Batcher, type BatchMetrics } from '../database/batcher.js';
import { Clock } from '../settings/clock.js';
import { loadSql, namedStatement, QueryRunner } from '../database/query-runner.js';
import { MIN_INT64 } from '../schemas/int64.js';
import {
  CreationBatcher,
  type CreationResponse,
  type IdempotentRequest,
  type Resource,
} from '../idempotency/creation-batcher.js';
import type { NewPet, PetStatus } from './pet.schemas.js';

const JSON = loadSql(import.meta.url, 'pet-as-json').text;
const SELECT = `SELECT id, ${JSON} FROM pets`;
// A parameter in a SELECT of its own, here and in pages-of-pets.sql, has PostgreSQL keep one plan for all its values.
const FIND = namedStatement('find-pets', `${SELECT} WHERE id = ANY ((SELECT $1::bigint[])::bigint[])`);
const PAGE = namedStatement(
  'page-of-pets',
  `${SELECT} WHERE id > (SELECT $1::bigint) ORDER BY id LIMIT (SELECT $2::int)`,
);
/** Compares both columns of the index, as `pages-of-pets.sql` does. */
const PAGE_OF_STATUS = namedStatement(
  'page-of-pets-of-status',
  `${SELECT} WHERE (status, id) > ((SELECT $3::pet_status), (SELECT $1::bigint)) AND status <= (SELECT $3::pet_status)
   ORDER BY status, id LIMIT (SELECT $2::int)`,
);
/** Many pages in one statement. */
const PAGES = namedStatement(
  'pages-of-pets',
  loadSql(import.meta.url, 'pages-of-pets').text.replace('{json}', JSON),
);

const CREATION: Resource<NewPet> = {
  name: 'add-pets',
  table: 'pets',
  json: JSON,
  path: '/v1/pets',
  columns: {
    name: { type: 'text', value: ({ name }) => name },
    category_id: { type: 'bigint', value: ({ categoryId }) => categoryId },
    status: { type: 'pet_status', value: ({ status }) => status ?? null },
  },
};

/** Pages of one query. */
const PAGES_AT_ONCE = 64;
/** Up to this limit, a single page is cheaper as one row per animal than as one text that PostgreSQL writes. */
const SHORT_PAGE = 32;

type Row = [id: string, json: string];

/** Which animals a page shows: `limit` of them, after the one of identifier `after`, oldest first. */
export interface PageRequest {
  limit: number;
  status?: PetStatus | undefined;
  after?: bigint | undefined;
}

/** One page. Requests for the same page in one batch share the object. */
export interface PetPage {
  /** The animals as a JSON array. */
  body: string;
  /** The identifier of the last animal, if more follow; else null. */
  lastId: string | null;
  /** The headers that the first of these requests has made of it. */
  links?: string;
  tag?: string;
}

/** The animals. Requests that arrive together share one query. */
@Injectable()
export class PetRepository {
  private readonly pages: Batcher<PageRequest, PetPage>;
  private readonly finds: Batcher<bigint, string | null>;
  private readonly creations: CreationBatcher<NewPet>;
  /** The bound applies to each kind of query. */
  readonly batches: BatchMetrics[];

  constructor(
    private readonly queries: QueryRunner,
    clock: Clock,
  ) {
    const { maxInFlight } = queries;
    this.pages = new Batcher((requests) => this.readPages(requests), {
      name: PAGE.name,
      maxBatch: PAGES_AT_ONCE,
      maxInFlight,
    });
    this.finds = new Batcher((ids) => this.findAll(ids), { name: FIND.name, maxInFlight });
    this.creations = new CreationBatcher(CREATION, queries, clock);
    this.batches = [this.pages.metrics, this.finds.metrics, this.creations.metrics];
  }

  /** @throws the database's error. */
  page(request: PageRequest): Promise<PetPage> {
    return this.pages.load(request);
  }

  /**
   * Returns the animal as JSON text, or null when there is none.
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
   * @returns the response, or that to an earlier request with the same key.
   * @throws ApiError `idempotency_conflict`, `idempotency_key_reused`; the database's error.
   */
  create(input: NewPet, idempotent: IdempotentRequest | null = null): Promise<CreationResponse> {
    return this.creations.load({ input, idempotent });
  }

  private async readPages(requests: PageRequest[]): Promise<PetPage[]> {
    const numbers = new Map<string, number>();
    const distinct: PageRequest[] = [];
    const indexes = requests.map((request) => {
      const name = pageKey(request);
      const number = numbers.get(name) ?? distinct.push(request) - 1;
      numbers.set(name, number);
      return number;
    });
    const [first] = distinct as [PageRequest, ...PageRequest[]];
    const isShort = distinct.length === 1 && first.limit <= SHORT_PAGE;
    const pages = isShort ? [await this.readPage(first)] : await this.readAll(distinct);
    return indexes.map((number) => pages[number] as PetPage);
  }

  private async readPage({ limit, status, after = MIN_INT64 }: PageRequest): Promise<PetPage> {
    // One more animal shows whether there is a next page.
    const values = [after, limit + 1];
    const rows = await (status === undefined
      ? this.queries.run<Row>(PAGE, values)
      : this.queries.run<Row>(PAGE_OF_STATUS, [...values, status]));
    const shown = rows.slice(0, limit);
    const body = `[${shown.map(([, json]) => json).join(',')}]`;
    return { body, lastId: rows.length > limit ? (shown.at(-1)?.[0] ?? null) : null };
  }

  private async readAll(pages: PageRequest[]): Promise<PetPage[]> {
    const rows = await this.queries.run<[number: number, body: string, lastId: string | null]>(PAGES, [
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
    const found = new Map(await this.queries.run<Row>(FIND, [ids]));
    return ids.map((id) => found.get(String(id)) ?? null);
  }
}

/** Returns the same text for the same page. */
function pageKey({ limit, status, after }: PageRequest): string {
  return `${status}:${after}:${limit}`;
}

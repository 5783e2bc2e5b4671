import { Injectable } from '@nestjs/common';
import { Batcher } from '../database/batches/batcher.js';
import type { Pet as Row } from '../database/generated/client.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { loadSql, namedStatement } from '../database/access/statement.js';
import type { MetricsRegistry, MetricsSource } from '../process/metrics-registry.js';
import { MIN_INT64 } from '../schemas/int64.js';
import { type Page, toPage } from '../schemas/pagination.js';
import {
  CreationBatcher,
  type CreationResponse,
  type IdempotentRequest,
  type Resource,
} from '../idempotency/creation-batcher.js';
import { type NewPet, Pet, type PetStatus } from './pet.schemas.js';
import { declareTables } from '../database/access/tables.js';

declareTables({ pets: { privileges: 'SELECT, INSERT', sequence: 'pets_id_seq' } });

/** The columns by the fields of a row. */
const COLUMNS: Record<keyof Row, string> = {
  id: 'id',
  name: 'name',
  categoryId: 'category_id',
  status: 'status',
};
const SELECTED = Object.entries(COLUMNS)
  .map(([field, column]) => `pet.${column} AS "${field}"`)
  .join(', ');
const SELECT = `SELECT ${SELECTED} FROM pets AS pet`;
// A parameter in a SELECT of its own, here and in pages-of-pets.sql, has PostgreSQL keep one plan for all its
// values.
const FIND = namedStatement<Row>('find-pets', `${SELECT} WHERE id = ANY ((SELECT $1::bigint[])::bigint[])`);
const PAGE = namedStatement<Row>(
  'page-of-pets',
  `${SELECT} WHERE id > (SELECT $1::bigint) ORDER BY id LIMIT (SELECT $2::int)`,
);
/** Compares both columns of the index, as `pages-of-pets.sql` does. */
const PAGE_OF_STATUS = namedStatement<Row>(
  'page-of-pets-of-status',
  `${SELECT} WHERE (status, id) > ((SELECT $3::pet_status), (SELECT $1::bigint))
    AND status <= (SELECT $3::pet_status)
   ORDER BY status, id LIMIT (SELECT $2::int)`,
);
/** Many pages in one statement. */
const PAGES = namedStatement<Row & { number: number }>(
  'pages-of-pets',
  loadSql(import.meta.url, 'pages-of-pets').text.replace('pet.*', () => SELECTED),
);

const CREATION: Resource<NewPet> = {
  name: 'add-pets',
  table: 'pets',
  path: '/v1/pets',
  schema: Pet,
  record: (pet, id) => ({ id, ...pet }),
  columns: {
    name: { name: COLUMNS.name, type: 'text' },
    categoryId: { name: COLUMNS.categoryId, type: 'bigint' },
    status: { name: COLUMNS.status, type: 'pet_status' },
  },
};

/** Pages of one query. */
const PAGES_AT_ONCE = 64;

/** Which animals a page shows: `limit` of them, after the one of identifier `after`, oldest first. */
export interface PageRequest {
  limit: number;
  status?: PetStatus | undefined;
  after?: bigint | undefined;
}

/** The animals. Requests that arrive together share one query. */
@Injectable()
export class PetRepository implements MetricsSource {
  private readonly pages: Batcher<PageRequest, Page<Pet>>;
  private readonly finds: Batcher<bigint, Pet | null>;
  private readonly creations: CreationBatcher<NewPet>;

  constructor(private readonly prisma: PrismaService) {
    this.pages = new Batcher((requests) => this.readPages(requests), {
      name: PAGE.name,
      maxBatch: PAGES_AT_ONCE,
      maxInFlight: prisma.batchesInFlight(),
    });
    this.finds = new Batcher((ids) => this.findAll(ids), {
      name: FIND.name,
      maxInFlight: prisma.batchesInFlight(),
    });
    this.creations = new CreationBatcher(CREATION, prisma);
  }

  addMetrics(metrics: MetricsRegistry): void {
    metrics.addBatches(this.pages.metrics, this.finds.metrics, this.creations.metrics);
  }

  /**
   * Returns a page, the same object to all requests for it that share a query.
   *
   * @throws the database's error.
   */
  page(request: PageRequest): Promise<Page<Pet>> {
    return this.pages.load(request);
  }

  /**
   * Returns a page of those of these animals that exist, in the queries of `find`.
   *
   * @param ids each once.
   * @throws the database's error.
   */
  async pageByIds(ids: bigint[], { limit, status, after }: PageRequest): Promise<Page<Pet>> {
    const following = ids
      .filter((id) => after === undefined || id > after)
      .toSorted((one, other) => (one < other ? -1 : 1));
    const found = await Promise.all(following.map((id) => this.find(id)));
    const pets = found.filter((pet) => pet !== null);
    return toPage(status === undefined ? pets : pets.filter((pet) => pet.status === status), limit);
  }

  /**
   * Returns the animal, or null if there is none.
   *
   * @throws the database's error.
   */
  find(id: bigint): Promise<Pet | null> {
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

  private async readPages(requests: PageRequest[]): Promise<Page<Pet>[]> {
    const numbers = new Map<string, number>();
    const distinct: PageRequest[] = [];
    const indexes = requests.map((request) => {
      const name = pageKey(request);
      const number = numbers.get(name) ?? distinct.push(request) - 1;
      numbers.set(name, number);
      return number;
    });
    const rows = await this.readRows(distinct);
    const pages = distinct.map(({ limit }, number) => toPage((rows[number] ?? []).map(toPet), limit));
    return indexes.map((number) => pages[number] as Page<Pet>);
  }

  /** Returns the rows of each page, and one more if another page follows. */
  private async readRows(pages: PageRequest[]): Promise<Row[][]> {
    const [first] = pages as [PageRequest];
    if (pages.length === 1) {
      const values = [first.after ?? MIN_INT64, first.limit + 1];
      const rows = await (first.status === undefined
        ? this.prisma.query(PAGE, ...values)
        : this.prisma.query(PAGE_OF_STATUS, ...values, first.status));
      return [rows];
    }
    const rows = await this.prisma.query(
      PAGES,
      pages.map((_page, number) => number),
      pages.map(({ after }) => after ?? MIN_INT64),
      pages.map(({ status }) => status ?? null),
      pages.map(({ limit }) => limit + 1),
    );
    const rowsOfPages: Row[][] = pages.map(() => []);
    rows.forEach((row) => rowsOfPages[row.number]?.push(row));
    return rowsOfPages;
  }

  private async findAll(ids: bigint[]): Promise<(Pet | null)[]> {
    const rows = await this.prisma.query(FIND, ids);
    const found = new Map(rows.map((row) => [row.id, toPet(row)]));
    return ids.map((id) => found.get(id) ?? null);
  }
}

/** Returns the same text for the same page. */
function pageKey({ limit, status, after }: PageRequest): string {
  return `${status}:${after}:${limit}`;
}

/**
 * Returns an animal with all fields, so that none is forgotten; responses leave out those that are undefined.
 */
function toPet({ id, name, categoryId, status }: Row): { [Field in keyof Required<Pet>]: Pet[Field] } {
  return { id, name, categoryId, status: status ?? undefined };
}

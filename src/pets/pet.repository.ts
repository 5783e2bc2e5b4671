import { Injectable } from '@nestjs/common';
import { PrismaService } from '../database/access/prisma.service.js';
import { Batcher } from '../database/batches/batcher.js';
import type { Pet as Row } from '../database/generated/client.js';
import { type Created, CreationBatcher, type IdempotentRequest } from '../idempotency/creation-batcher.js';
import { MIN_INT64 } from '../schemas/int64.js';
import { type Page, toPage } from '../schemas/pagination.js';
import type { NewPet, Pet, PetStatus } from './pet.schemas.js';

/** The maximum of pages that a batch reads. */
const PAGES_AT_ONCE = 64;

/** Which animals a page shows: `limit` of them, after the one of identifier `after`, oldest first. */
export interface PageRequest {
  limit: number;
  status?: PetStatus | undefined;
  after?: bigint | undefined;
}

/** The animals. Requests that arrive together share one query. */
@Injectable()
export class PetRepository {
  private readonly pages: Batcher<PageRequest, Page<Pet>>;
  private readonly finds: Batcher<bigint, Pet | null>;
  private readonly creations: CreationBatcher<Row, Pet>;

  constructor(private readonly prisma: PrismaService) {
    this.pages = new Batcher((requests) => this.readPages(requests), {
      name: 'page-of-pets',
      maxBatch: PAGES_AT_ONCE,
      client: prisma,
    });
    this.finds = new Batcher((ids) => this.findAll(ids), {
      name: 'find-pets',
      client: prisma,
    });
    const resource = { name: 'add-pets', table: 'pets', toRecord: toPet };
    this.creations = new CreationBatcher<Row, Pet>(resource, prisma);
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

  /** Returns the animal, or null if there is none. @throws the database's error. */
  find(id: bigint): Promise<Pet | null> {
    return this.finds.load(id);
  }

  /**
   * Creates an animal.
   *
   * @param idempotent of a request with an `Idempotency-Key`.
   * @returns the animal, or the response to an earlier request with the same key.
   * @throws ApiError `idempotency_conflict`, `idempotency_key_reused`; the database's error.
   */
  create(input: NewPet, idempotent: IdempotentRequest<Pet> | null = null): Promise<Pet | Created> {
    return this.creations.load({ row: { ...input, status: input.status ?? null }, idempotent });
  }

  private async readPages(requests: PageRequest[]): Promise<Page<Pet>[]> {
    const keys = requests.map(({ limit, status, after }) => `${status}:${after}:${limit}`);
    const distinct = new Map(keys.map((key, index) => [key, requests[index]!]));
    const wanted = [...distinct.values()];
    const isPlain = wanted.length === 1 && wanted[0]!.status === undefined;
    const pages = isPlain ? [await this.readPlainPage(wanted[0]!)] : await this.readEach(wanted);
    const byKey = new Map([...distinct.keys()].map((key, index) => [key, pages[index]!]));
    return keys.map((key) => byKey.get(key)!);
  }

  private async readPlainPage({ limit, after = MIN_INT64 }: PageRequest): Promise<Page<Pet>> {
    const where = { id: { gt: after } };
    const rows = await this.prisma.pet.findMany({ where, orderBy: { id: 'asc' }, take: limit + 1 });
    return toPage(rows.map(toPet), limit);
  }

  /**
   * Reads pages by one statement, because a client that walks with many cursors must delay no other.
   *
   * It is SQL because Prisma casts a status in a way that keeps the planner from every index on it. The
   * comparison has both columns of the index: by the status alone, a page would start at its first animal.
   * Parameters in SELECTs of their own have PostgreSQL keep one plan for all their values.
   */
  private async readEach(pages: PageRequest[]): Promise<Page<Pet>[]> {
    const afters = pages.map(({ after = MIN_INT64 }) => after);
    const statuses = pages.map(({ status = null }) => status);
    const sizes = pages.map(({ limit }) => limit + 1);
    // A condition on the page alone disables one half of the UNION.
    const rows = await this.prisma.$queryRaw<(Row & { number: bigint })[]>`
      SELECT page.number, pet.id, pet.name, pet.category_id AS "categoryId", pet.status
      FROM
        ROWS FROM (
          unnest((SELECT ${afters}::bigint[]), (SELECT ${statuses}::pet_status[]), (SELECT ${sizes}::int[]))
        ) WITH ORDINALITY AS page (after, wanted, size, number),
        LATERAL (
          (
            SELECT * FROM pets WHERE page.wanted IS NULL AND pets.id > page.after
            ORDER BY pets.id LIMIT page.size
          )
          UNION ALL
          (
            SELECT * FROM pets
            WHERE (pets.status, pets.id) > (page.wanted, page.after) AND pets.status <= page.wanted
            ORDER BY pets.status, pets.id LIMIT page.size
          )
        ) AS pet
      ORDER BY page.number, pet.id`;
    const found: Pet[][] = pages.map(() => []);
    rows.forEach((row) => found[Number(row.number) - 1]!.push(toPet(row)));
    return pages.map(({ limit }, index) => toPage(found[index]!, limit));
  }

  private async findAll(ids: bigint[]): Promise<(Pet | null)[]> {
    // A power of two, so that few statements are prepared: Prisma writes one for each number of ids.
    const padded = Array.from({ length: 2 ** Math.ceil(Math.log2(ids.length)) }, (_, i) => ids[i] ?? ids[0]!);
    const rows = await this.prisma.pet.findMany({ where: { id: { in: padded } } });
    const found = new Map(rows.map((row) => [row.id, toPet(row)]));
    return ids.map((id) => found.get(id) ?? null);
  }
}

/**
 * Returns an animal with all fields, so that none is forgotten; responses leave out those that are undefined.
 */
function toPet({ id, name, categoryId, status }: Row): { [Field in keyof Required<Pet>]: Pet[Field] } {
  return { id, name, categoryId, status: status ?? undefined };
}

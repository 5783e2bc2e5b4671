import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { Batcher, FailedAsk } from '../batcher.js';
import type { Prisma } from '../database/generated/client.js';
import { statementBeside, Statements } from '../database/statements.js';
import { MIN_INT64 } from '../http/int64.js';
import type { NewPet, Pet, PetStatus } from './pet.schemas.js';

const PAGE = statementBeside(import.meta.url, 'page-of-pets');
const FIND = statementBeside(import.meta.url, 'find-pets');
const ADD = statementBeside(import.meta.url, 'add-pets');

/** What a value is refused for (PostgreSQL, Appendix A): it cannot be stored, or must not be. */
const REFUSED_VALUE = /^2[23]...$/;
/** Pages that one question reads at the most: of 100 animals each, as much as is read in a moment. */
const PAGES_AT_ONCE = 64;
/** Of each kind. All three together leave connections to keys and usage (`poolSizes`). */
const QUESTIONS_UNDER_WAY = 2;

type Row = [id: string, name: string, categoryId: string, status: PetStatus | null];

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
    maxUnderWay: QUESTIONS_UNDER_WAY,
  });
  private readonly finds = new Batcher((ids: bigint[]) => this.findAll(ids), {
    name: FIND.name,
    maxUnderWay: QUESTIONS_UNDER_WAY,
  });
  private readonly additions = new Batcher((pets: NewPet[]) => this.addAll(pets), {
    name: ADD.name,
    maxUnderWay: QUESTIONS_UNDER_WAY,
  });
  /** All that was asked of the database for many at once, by kind. */
  readonly questions = [this.pages.questions, this.finds.questions, this.additions.questions];

  constructor(private readonly statements: Statements) {}

  /** @throws the database's error. */
  page(request: PageRequest): Promise<PetPage> {
    return this.pages.ask(request);
  }

  /** @throws the database's error. */
  find(id: bigint): Promise<Pet | null> {
    return this.finds.ask(id);
  }

  /**
   * Adds an animal: durably, or as part of a transaction that somebody else ends.
   *
   * @throws the database's error.
   */
  add(pet: NewPet, transaction?: Prisma.TransactionClient): Promise<Pet> {
    return transaction === undefined ? this.additions.ask(pet) : addWithin(transaction, pet);
  }

  private async readPages(requests: PageRequest[]): Promise<PetPage[]> {
    const numbers = new Map<string, number>();
    const pages: PageRequest[] = [];
    const places = requests.map((request) => {
      const name = nameOf(request);
      const number = numbers.get(name) ?? pages.push(request) - 1;
      numbers.set(name, number);
      return number;
    });
    const rows = await this.statements.run<[number: number, body: string, lastId: string | null]>(PAGE, [
      pages.map((_page, number) => number),
      pages.map(({ after }) => after ?? MIN_INT64),
      pages.map(({ status }) => status ?? null),
      pages.map(({ limit }) => limit),
    ]);
    const read = new Map(rows.map(([number, body, lastId]): [number, PetPage] => [number, { body, lastId }]));
    return places.map((number) => read.get(number) as PetPage);
  }

  private async findAll(ids: bigint[]): Promise<(Pet | null)[]> {
    const rows = await this.statements.run<Row>(FIND, [ids]);
    const found = new Map(rows.map((row) => [row[0], petOf(row)]));
    return ids.map((id) => found.get(String(id)) ?? null);
  }

  private async addAll(pets: NewPet[]): Promise<(Pet | FailedAsk)[]> {
    try {
      const rows = await this.statements.run<[id: string]>(ADD, [
        pets.map(({ name }) => name),
        pets.map(({ categoryId }) => categoryId),
        pets.map(({ status }) => status ?? null),
      ]);
      return pets.map((pet, index) => withId(BigInt(rows[index]?.[0] ?? NaN), pet));
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && REFUSED_VALUE.test(String(error.code)))) {
        throw error;
      }
      // None was added. Whichever it is that the database refuses, the others are not to fail with it.
      return pets.length === 1 ? [new FailedAsk(error)] : this.addHalves(pets);
    }
  }

  /** Each by itself: what was added is added, whatever comes of the rest. */
  private async addHalves(pets: NewPet[]): Promise<(Pet | FailedAsk)[]> {
    const middle = Math.ceil(pets.length / 2);
    const added: (Pet | FailedAsk)[] = [];
    for (const half of [pets.slice(0, middle), pets.slice(middle)]) {
      added.push(
        ...(await this.addAll(half).catch((error: unknown) => half.map(() => new FailedAsk(error)))),
      );
    }
    return added;
  }
}

async function addWithin(transaction: Prisma.TransactionClient, pet: NewPet): Promise<Pet> {
  const { name, categoryId, status = null } = pet;
  const { id } = await transaction.pet.create({ select: { id: true }, data: { name, categoryId, status } });
  return withId(id, pet);
}

/** The same for the same page. */
function nameOf({ limit, status, after }: PageRequest): string {
  return `${status}:${after}:${limit}`;
}

function petOf([id, name, categoryId, status]: Row): Pet {
  const pet = { id: BigInt(id), name, categoryId: BigInt(categoryId) };
  return status === null ? pet : { ...pet, status };
}

function withId(id: bigint, { name, categoryId, status }: NewPet): Pet {
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };
}

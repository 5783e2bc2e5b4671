import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';

/** The number of matches that a message lists. */
const MATCHES_MAX = 5;

/** Finds the names of keys, and keys by the ending of their id, for the terminal. */
@Injectable()
export class KeyLookup {
  constructor(private readonly prisma: PrismaService) {}

  /** Returns the names of the keys with these ids, by id. A key that was deleted by hand is not included. */
  async findNames(ids: readonly string[]): Promise<Map<string, string>> {
    const keys = await this.prisma.$queryRaw<{ id: string; name: string }[]>`
      SELECT id, name FROM api_keys WHERE id = ANY (${[...new Set(ids)]}::uuid[])`;
    return new Map(keys.map(({ id, name }) => [id, name]));
  }

  /** Returns the first five ids that end with this text. */
  async idsEndingWith(ending: string): Promise<string[]> {
    const keys = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM api_keys WHERE right(id::text, ${ending.length}::int) = ${ending} ORDER BY id LIMIT ${MATCHES_MAX}`;
    return keys.map(({ id }) => id);
  }
}

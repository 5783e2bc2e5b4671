import { Injectable } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service.js';

/** How much of an id its end is. These characters are random, while the first ones are the time. */
const ENDING_LENGTH = 8;
/** As many as a message names. */
const MATCHES_MAX = 5;

/** Returns the end of an id. */
export function endingOf(id: string): string {
  return id.slice(-ENDING_LENGTH);
}

/** Finds the names of keys, and keys by the end of their id: what a person reads and types. */
@Injectable()
export class KeyLookup {
  constructor(private readonly prisma: PrismaService) {}

  /** Returns the names of the keys with these ids, by id, without those that were removed by hand. */
  async namesOf(ids: readonly string[]): Promise<Map<string, string>> {
    const keys = await this.prisma.$queryRaw<{ id: string; name: string }[]>`
      SELECT id, name FROM api_keys WHERE id = ANY (${[...new Set(ids)]}::uuid[])`;
    return new Map(keys.map(({ id, name }) => [id, name]));
  }

  /** Returns the first five of the ids that end with this text. */
  async idsEndingWith(ending: string): Promise<string[]> {
    const keys = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM api_keys WHERE right(id::text, ${ending.length}::int) = ${ending} ORDER BY id LIMIT ${MATCHES_MAX}`;
    return keys.map(({ id }) => id);
  }

  /** Returns which ends of these ids several keys share. */
  async sharedEndings(ids: readonly string[]): Promise<Set<string>> {
    const endings = [...new Set(ids.map(endingOf))];
    const shared = await this.prisma.$queryRaw<{ ending: string }[]>`
      SELECT right(id::text, ${ENDING_LENGTH}::int) AS ending FROM api_keys
      WHERE right(id::text, ${ENDING_LENGTH}::int) = ANY (${endings})
      GROUP BY 1 HAVING count(*) > 1`;
    return new Set(shared.map(({ ending }) => ending));
  }
}

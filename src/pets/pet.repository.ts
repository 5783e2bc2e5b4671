import { Injectable } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service.js';
import type { NewPet, Pet, PetStatus } from './pet.schemas.js';

interface Row extends Omit<Pet, 'status'> {
  status: PetStatus | null;
}

/** Which animals a page shows: `limit` of them, after the one of identifier `after`, oldest first. */
export interface PageOfPets {
  limit: number;
  status?: PetStatus | undefined;
  after?: bigint | undefined;
}

@Injectable()
export class PetRepository {
  constructor(private readonly prisma: PrismaService) {}

  /** One page, and whether more follow. */
  async page({ limit, status, after }: PageOfPets): Promise<{ pets: Pet[]; more: boolean }> {
    const rows = await this.prisma.pet.findMany({
      where: { ...(status && { status }), ...(after !== undefined && { id: { gt: after } }) },
      orderBy: { id: 'asc' },
      take: limit + 1,
    });
    return { pets: rows.slice(0, limit).map(petOf), more: rows.length > limit };
  }

  async find(id: bigint): Promise<Pet | null> {
    const row = await this.prisma.pet.findUnique({ where: { id } });
    return row && petOf(row);
  }

  async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    return petOf(await this.prisma.pet.create({ data: { name, categoryId, status: status ?? null } }));
  }
}

function petOf({ status, ...pet }: Row): Pet {
  return status === null ? pet : { ...pet, status };
}

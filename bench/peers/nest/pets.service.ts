import { Injectable } from '@nestjs/common';
import type { Pet as Row } from './generated/client.js';
import type { NewPet, Pet, PetQuery } from './pet.dto.js';
import { PrismaService } from './prisma.service.js';

@Injectable()
export class PetsService {
  constructor(private readonly prisma: PrismaService) {}

  async list({ limit, cursor, status }: PetQuery): Promise<Pet[]> {
    const rows = await this.prisma.pet.findMany({
      where: { ...(status && { status }), id: { gt: cursor } },
      orderBy: { id: 'asc' },
      take: limit,
    });
    return rows.map(petOf);
  }

  async find(id: number): Promise<Pet | null> {
    const row = await this.prisma.pet.findUnique({ where: { id } });
    return row && petOf(row);
  }

  async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    return petOf(await this.prisma.pet.create({ data: { name, categoryId, status: status ?? null } }));
  }
}

function petOf({ id, name, categoryId, status }: Row): Pet {
  return { id: Number(id), name, categoryId: Number(categoryId), ...(status && { status }) };
}

import {
  Body,
  Controller,
  Get,
  Injectable,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
} from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { type Pet as Row, PrismaClient } from './generated/client.js';

const STATUSES = ['available', 'pending', 'sold'] as const;
type Status = (typeof STATUSES)[number];

class PetQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 20;

  @Type(() => Number)
  @IsInt()
  cursor = 0;

  @IsOptional()
  @IsIn(STATUSES)
  status?: Status;
}

class NewPet {
  @IsString()
  @Length(1, 255)
  name!: string;

  @IsInt()
  categoryId!: number;

  @IsOptional()
  @IsIn(STATUSES)
  status?: Status;
}

interface Pet {
  id: number;
  name: string;
  categoryId: number;
  status?: Status;
}

@Injectable()
export class PrismaService extends PrismaClient {
  constructor() {
    super({ adapter: new PrismaPg({ connectionString: process.env['DATABASE_URL'] }) });
  }
}

@Injectable()
export class PetsService {
  constructor(private readonly prisma: PrismaService) {}

  async list({ limit, cursor, status }: PetQuery): Promise<Pet[]> {
    const rows = await this.prisma.pet.findMany({
      where: { ...(status && { status }), id: { gt: cursor } },
      orderBy: { id: 'asc' },
      take: limit,
    });
    return rows.map(toPet);
  }

  async find(id: number): Promise<Pet | null> {
    const row = await this.prisma.pet.findUnique({ where: { id } });
    return row && toPet(row);
  }

  async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    return toPet(await this.prisma.pet.create({ data: { name, categoryId, status: status ?? null } }));
  }
}

@Controller('v1/pets')
export class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  list(@Query() query: PetQuery): Promise<Pet[]> {
    return this.pets.list(query);
  }

  @Get(':id')
  async find(@Param('id', ParseIntPipe) id: number): Promise<Pet> {
    const pet = await this.pets.find(id);
    if (pet === null) {
      throw new NotFoundException();
    }
    return pet;
  }

  @Post()
  add(@Body() pet: NewPet): Promise<Pet> {
    return this.pets.add(pet);
  }
}

function toPet({ id, name, categoryId, status }: Row): Pet {
  return { id: Number(id), name, categoryId: Number(categoryId), ...(status && { status }) };
}

import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { RouteSchema } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { Deprecated } from '../deprecation/deprecated.decorator.js';
import { ApiError } from '../errors/api-error.js';
import { parseInt64 } from '../http/int64.js';
import { jsonSchema } from '../http/json-schema.js';
import { pageLinks } from './page-links.js';
import { PetRepository } from './pet.repository.js';
import { NewPet, Pet, PetQuery } from './pet.schemas.js';

const PATH = '/v1/pets';

@Controller(PATH)
export class PetsController {
  constructor(private readonly pets: PetRepository) {}

  @Get()
  @RouteSchema({ response: { 200: jsonSchema(Pet.array(), 'output') } })
  async listPets(
    @Query({ schema: PetQuery }) { limit, status, cursor }: PetQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Pet[]> {
    const { pets, more } = await this.pets.page({ limit, status, after: cursor });
    const filters = { limit: String(limit), ...(status && { status }) };
    reply.header('Link', pageLinks(PATH, filters, more ? (pets.at(-1)?.id ?? null) : null));
    return pets;
  }

  @Post()
  @RouteSchema({ response: { 201: jsonSchema(Pet, 'output') } })
  async createPet(
    @Body({ schema: NewPet }) newPet: NewPet,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Pet> {
    const pet = await this.pets.add(newPet);
    reply.header('Location', `${PATH}/${pet.id}`);
    return pet;
  }

  @Get(':petId')
  @Deprecated({
    since: new Date('2025-12-05T00:00:00Z'),
    removal: new Date('2030-12-05T00:00:00Z'),
    replacement: `${PATH}?status=available`,
    documentation: '/docs#/pets/getPet',
  })
  @RouteSchema({ response: { 200: jsonSchema(Pet, 'output') } })
  async getPet(@Param('petId') petId: string): Promise<Pet> {
    const id = parseInt64(petId);
    const pet = id === null ? null : await this.pets.find(id);
    if (pet === null) {
      throw new ApiError('not_found', `There is no animal with the identifier "${petId}".`);
    }
    return pet;
  }
}

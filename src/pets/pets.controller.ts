import { Body, Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Deprecated } from '../deprecation/deprecated.decorator.js';
import { Operation } from '../openapi/operation.decorator.js';
import { ApiError } from '../http/routes/api-error.js';
import { respondWithPage } from '../http/responses/respond-with-page.js';
import { Revalidated } from '../http/responses/revalidation.hook.js';
import { int64, parseInt64 } from '../schemas/int64.js';
import { jsonSchema } from '../schemas/json-schema.js';
import { LIMIT_DEFAULT, LIMIT_MAX } from '../schemas/pagination.js';
import { Creates } from '../idempotency/creates.decorator.js';
import { createdResponse, IdempotencyService } from '../idempotency/idempotency.service.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { type Allowed, ifAllowed, ServedWhileCounted } from '../rate-limit/served-while-counted.js';
import { PetRepository } from './pet.repository.js';
import { NewPet, Pet, PetQuery } from './pet.schemas.js';

const PATH = '/v1/pets';

@Tag('pets', 'The animals that the store offers.')
@Controller(PATH)
export class PetsController {
  private readonly created = createdResponse(Pet, PATH);

  constructor(
    private readonly pets: PetRepository,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Get()
  @ServedWhileCounted()
  @Revalidated()
  @Operation({
    stability: 'stable',
    scope: 'pets:read',
    summary: 'List animals',
    description:
      'Returns one page of the animals, oldest first, of one status or with some identifiers if given.',
  })
  @PageResponse(Pet, 'A page of animals.', 'ETag', 'Revalidate')
  listPets(
    @Query({ schema: PetQuery })
    { id, limit = id === undefined ? LIMIT_DEFAULT : LIMIT_MAX, status, cursor }: PetQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Allowed<Pet[]>> {
    const shown = { limit, status, after: cursor };
    const page = id === undefined ? this.pets.page(shown) : this.pets.pageByIds(id, shown);
    return ifAllowed(request, page, (found) =>
      respondWithPage(reply, found, PATH, { limit, status, id }, (last) => String(last.id)),
    );
  }

  @Post()
  @Creates()
  @Operation({
    stability: 'stable',
    scope: 'pets:write',
    summary: 'Add an animal',
    description: 'Adds an animal and gives it its identifier.',
  })
  @Responses({
    status: 201,
    schema: Pet,
    description: 'The animal that was added.',
    headers: ['Location', 'Idempotent-Replayed'],
  })
  createPet(
    @Body({ schema: NewPet }) newPet: NewPet,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.respond(request, reply, this.created, (idempotent) =>
      this.pets.create(newPet, idempotent),
    );
  }

  @Get(':petId')
  @ServedWhileCounted()
  @Revalidated()
  @Operation({
    stability: 'stable',
    scope: 'pets:read',
    summary: 'Get an animal',
    description:
      'Will be removed on 5 December 2030. Use `GET /pets?id=7` to read one animal, or `GET /pets` with ' +
      'the filter `status`.',
  })
  @Deprecated({
    since: new Date('2025-12-05T00:00:00Z'),
    removal: new Date('2030-12-05T00:00:00Z'),
    successors: [`${PATH}?id={petId}`, `${PATH}?status=available`],
    docs: '/docs#/pets/getPet',
  })
  @ApiParam({
    name: 'petId',
    description: 'Identifier of the animal to read.',
    schema: { ...jsonSchema(int64, 'input'), examples: [7] },
  })
  @Responses({ status: 200, schema: Pet, description: 'The animal.', headers: ['ETag', 'Revalidate'] })
  async getPet(@Param('petId') petId: string, @Req() request: FastifyRequest): Promise<Allowed<Pet>> {
    const id = parseInt64(petId);
    return ifAllowed(request, id === null ? Promise.resolve(null) : this.pets.find(id), (pet) => {
      if (pet === null) {
        throw new ApiError('not_found', `No animal has the id ${petId}.`);
      }
      return pet;
    });
  }
}

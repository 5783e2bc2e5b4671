import { Body, Controller, Get, NotFoundException, Param, ParseIntPipe, Post, Query } from '@nestjs/common';
import { NewPet, type Pet, PetQuery } from './pet.dto.js';
import { PetsService } from './pets.service.js';

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

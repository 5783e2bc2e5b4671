import { Module } from '@nestjs/common';
import { PetRepository } from './pet.repository.js';
import { PetsController } from './pets.controller.js';

@Module({ controllers: [PetsController], providers: [PetRepository], exports: [PetRepository] })
export class PetsModule {}

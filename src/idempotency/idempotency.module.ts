import { Global, Module } from '@nestjs/common';
import { Creations } from './creations.js';
import { KeptAnswersSweeper } from './kept-answers.sweeper.js';
import { KeptAnswers } from './kept-answers.js';

@Global()
@Module({ providers: [KeptAnswers, KeptAnswersSweeper, Creations], exports: [Creations] })
export class IdempotencyModule {}

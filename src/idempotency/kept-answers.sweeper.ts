import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { databaseReason } from '../database/availability.js';
import { Recurring } from '../recurring.js';
import { KeptAnswers } from './kept-answers.js';

const SWEEP_INTERVAL_MS = 60_000;

/** Has kept answers removed from time to time that are too old to be given again. */
@Injectable()
export class KeptAnswersSweeper implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(KeptAnswersSweeper.name);
  private readonly sweep: Recurring;

  constructor(answers: KeptAnswers) {
    this.sweep = new Recurring(
      SWEEP_INTERVAL_MS,
      () => answers.sweep(),
      (error) => this.logger.warn(`Old answers were not removed: ${databaseReason(error)}`),
    );
  }

  onModuleInit(): void {
    this.sweep.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.sweep.stop();
  }
}

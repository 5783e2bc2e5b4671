import { Injectable } from '@nestjs/common';
import { RecurringWork } from '../database/recurring-work.js';
import { KeptAnswers } from './kept-answers.js';

const SWEEP_INTERVAL_MS = 60_000;

/** Has kept answers removed from time to time that are too old to be given again. */
@Injectable()
export class KeptAnswersSweeper extends RecurringWork {
  constructor(answers: KeptAnswers) {
    super(SWEEP_INTERVAL_MS, () => answers.sweep(), 'Old answers were not removed');
  }
}

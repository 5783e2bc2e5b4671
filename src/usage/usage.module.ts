import { Module } from '@nestjs/common';
import { UsageCleanup } from './usage.cleanup.js';
import { UsageJournal } from './usage.journal.js';
import { UsageRecorder } from './usage.recorder.js';
import { UsageRepository } from './usage.repository.js';

@Module({
  providers: [UsageJournal, UsageRepository, UsageRecorder, UsageCleanup],
  exports: [UsageJournal, UsageRepository, UsageRecorder],
})
export class UsageModule {}

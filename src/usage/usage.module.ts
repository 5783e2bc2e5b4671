import { Module } from '@nestjs/common';
import { UsageFolder } from './usage.folder.js';
import { UsageJournal } from './usage.journal.js';
import { UsageRecorder } from './usage.recorder.js';
import { UsageRepository } from './usage.repository.js';
import { UsageSweeper } from './usage.sweeper.js';

@Module({
  providers: [UsageJournal, UsageRepository, UsageRecorder, UsageFolder, UsageSweeper],
  exports: [UsageRepository, UsageRecorder],
})
export class UsageModule {}

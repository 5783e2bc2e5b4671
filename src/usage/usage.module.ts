import { Module } from '@nestjs/common';
import { UsageCleanup } from './usage.cleanup.js';
import { UsageController } from './usage.controller.js';
import { UsageJournal } from './usage.journal.js';
import { UsageRecorder } from './usage.recorder.js';
import { UsageRepository } from './usage.repository.js';
import { UsageService } from './usage.service.js';

@Module({
  controllers: [UsageController],
  providers: [UsageJournal, UsageRepository, UsageRecorder, UsageCleanup, UsageService],
  exports: [UsageJournal, UsageRepository, UsageRecorder, UsageService],
})
export class UsageModule {}

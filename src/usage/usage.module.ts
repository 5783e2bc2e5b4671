import { Module } from '@nestjs/common';
import { UsageCleanup } from './usage.cleanup.js';
import { UsageJournal } from './usage.journal.js';
import { UsageReportRepository } from './usage-report.repository.js';
import { UsageRecorder } from './usage.recorder.js';
import { UsageRepository } from './usage.repository.js';

@Module({
  providers: [UsageJournal, UsageRepository, UsageReportRepository, UsageRecorder, UsageCleanup],
  exports: [UsageJournal, UsageRepository, UsageReportRepository, UsageRecorder],
})
export class UsageModule {}

import { Module } from '@nestjs/common';
import { UsageCleanup } from './usage.cleanup.js';
import { UsageHook } from './usage.hook.js';
import { UsageJournal } from './usage.journal.js';
import { UsageRecorder } from './usage.recorder.js';
import { UsageRepository } from './usage.repository.js';

@Module({
  providers: [UsageJournal, UsageRepository, UsageRecorder, UsageHook, UsageCleanup],
  exports: [UsageJournal, UsageRepository, UsageRecorder, UsageHook],
})
export class UsageModule {}

import { Module } from '@nestjs/common';
import { UsageRecorder } from './usage.recorder.js';
import { UsageRepository } from './usage.repository.js';
import { UsageSweeper } from './usage.sweeper.js';

@Module({
  providers: [UsageRepository, UsageRecorder, UsageSweeper],
  exports: [UsageRepository, UsageRecorder],
})
export class UsageModule {}

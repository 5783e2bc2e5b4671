import { Module } from '@nestjs/common';
import { FailedRequestCleanup } from './failed-requests/failed-request.cleanup.js';
import { FailedRequestRecorder } from './failed-requests/failed-request.recorder.js';
import { FailedRequestRepository } from './failed-requests/failed-request.repository.js';
import { FailedRequestsController } from './failed-requests/failed-requests.controller.js';
import { UsageCleanup } from './usage.cleanup.js';
import { UsageController } from './usage.controller.js';
import { UsageJournal } from './usage.journal.js';
import { UsageRecorder } from './usage.recorder.js';
import { UsageRepository } from './usage.repository.js';
import { UsageService } from './usage.service.js';

@Module({
  controllers: [UsageController, FailedRequestsController],
  providers: [
    UsageJournal,
    UsageRepository,
    UsageRecorder,
    UsageCleanup,
    UsageService,
    FailedRequestRecorder,
    FailedRequestRepository,
    FailedRequestCleanup,
  ],
  exports: [
    UsageJournal,
    UsageRepository,
    UsageRecorder,
    UsageService,
    FailedRequestRecorder,
    FailedRequestRepository,
  ],
})
export class UsageModule {}

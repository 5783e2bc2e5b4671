import { Module } from '@nestjs/common';
import { AuditCleanup } from './audit.cleanup.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';

@Module({ controllers: [AuditController], providers: [AuditService, AuditCleanup], exports: [AuditService] })
export class AuditModule {}

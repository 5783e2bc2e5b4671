import { Inject, Injectable } from '@nestjs/common';
import { namedStatement } from '../database/access/statement.js';
import { Cleanup } from '../database/batches/cleanup.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';

/** Deletes audit events that are older than they are kept; none unless that is set. */
@Injectable()
export class AuditCleanup extends Cleanup {
  constructor(
    prisma: PrismaService,
    @Inject(ENVIRONMENT) { AUDIT_RETENTION: keptMs }: Pick<Environment, 'AUDIT_RETENTION'>,
  ) {
    const deletions =
      keptMs === undefined
        ? []
        : [
            namedStatement(
              'delete-expired-audit-events',
              `SELECT FROM delete_audit_events(
                 statement_timestamp() - make_interval(secs => ${keptMs / 1000}), $1
               )`,
            ),
          ];
    super(prisma, 'audit events', deletions);
  }
}

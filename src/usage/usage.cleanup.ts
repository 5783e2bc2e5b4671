import { Inject, Injectable } from '@nestjs/common';
import { Cleanup, deletion } from '../database/batches/cleanup.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { KEPT_MS, PERIODS } from './rules/periods.js';
import { HOUR_MS } from '../process/time-units.js';

const timeAgo = (ms: number) => `statement_timestamp() - make_interval(secs => ${ms / 1000})`;

/**
 * Deletes usage of periods that ended longer ago than they are kept, and batches that were aggregated an hour
 * ago.
 */
@Injectable()
export class UsageCleanup extends Cleanup {
  constructor(
    prisma: PrismaService,
    @Inject(ENVIRONMENT) { USAGE_MINUTE_RETENTION }: Pick<Environment, 'USAGE_MINUTE_RETENTION'>,
  ) {
    const keptMs = { ...KEPT_MS, minute: USAGE_MINUTE_RETENTION };
    super(prisma, 'usage', [
      deletion('usage_batches', `size = 0 AND written_at < ${timeAgo(HOUR_MS)}`),
      ...PERIODS.map((period) =>
        deletion(
          'usage',
          `period = '${period}' AND starts_at < date_trunc('${period}', ${timeAgo(keptMs[period])}, 'UTC')`,
        ),
      ),
    ]);
  }
}

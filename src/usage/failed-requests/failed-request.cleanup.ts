import { Inject, Injectable } from '@nestjs/common';
import { Cleanup, deletion } from '../../database/batches/cleanup.js';
import { PrismaService } from '../../database/access/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../../process/settings/environment.js';

/** Deletes failed requests of minutes that ended longer ago than they are kept. */
@Injectable()
export class FailedRequestCleanup extends Cleanup {
  constructor(
    prisma: PrismaService,
    @Inject(ENVIRONMENT) { FAILED_REQUEST_RETENTION }: Pick<Environment, 'FAILED_REQUEST_RETENTION'>,
  ) {
    const oldest = `date_trunc('minute', statement_timestamp(), 'UTC') - make_interval(secs => ${
      FAILED_REQUEST_RETENTION / 1000
    })`;
    super(prisma, 'failed requests', [
      deletion('failed_requests', `requested_at < ${oldest}`),
      deletion('failed_request_minutes', `starts_at < ${oldest}`),
    ]);
  }
}

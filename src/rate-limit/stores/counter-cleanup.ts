import { Injectable } from '@nestjs/common';
import { Cleanup, deletion } from '../../database/batches/cleanup.js';
import { PrismaService } from '../../database/access/prisma.service.js';
import { LEVEL_FALLS_AFTER_MS } from '../rules/ban.js';

// Seconds, because a day of the session's time zone may have 23 or 25 hours.
const LEVEL_FALLS_AFTER = `interval '${LEVEL_FALLS_AFTER_MS / 1000} seconds'`;
const EXPIRED = `(
    (day_limit IS NULL AND minute_number < floor(extract(epoch FROM statement_timestamp()) / 60) - 10)
    OR day_number < floor(extract(epoch FROM statement_timestamp()) / 86400) - 1
  )
  AND (banned_until IS NULL OR banned_until + ban_level * ${LEVEL_FALLS_AFTER} <= statement_timestamp())`;

/**
 * Deletes the counters of PostgreSQL whose windows are over: of anonymous clients after ten minutes, of
 * quotas after two days, when no statement still waits for one. Keeps those whose ban level is not zero.
 */
@Injectable()
export class CounterCleanup extends Cleanup {
  constructor(prisma: PrismaService) {
    super(prisma, 'counters', [deletion('rate_limit_counters', EXPIRED)]);
  }
}

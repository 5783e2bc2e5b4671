import { Injectable } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service.js';
import { Clock } from '../settings/clock.js';
import { type Replica, REPLICAS_MAX } from './replica.schemas.js';

type Row = Pick<Replica, 'id' | 'host'> & {
  startedAt: Date;
  seenAt: Date;
  countsLocallySince: Date | null;
};

/** Lists the replicas of the service. */
@Injectable()
export class ReplicaService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly clock: Clock,
  ) {}

  /** Returns the replicas that were seen within the last hour, by the time of their start, oldest first. */
  async list(): Promise<Replica[]> {
    const rows = await this.prisma.$queryRaw<Row[]>`
      SELECT
        id, host, started_at AS "startedAt", seen_at AS "seenAt", counts_locally_since AS "countsLocallySince"
      FROM replicas
      WHERE seen_at >= statement_timestamp() + make_interval(secs => ${this.clock.storeOffsetMs}::float8 / 1000, hours => -1)
      ORDER BY started_at, id
      LIMIT ${REPLICAS_MAX}`;
    return rows.map(({ id, host, startedAt, seenAt, countsLocallySince }) => ({
      id,
      host,
      startedAt: startedAt.toISOString(),
      seenAt: seenAt.toISOString(),
      countsLocallySince: countsLocallySince?.toISOString() ?? null,
    }));
  }
}

import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/access/prisma.service.js';
import { ApiError } from '../../http/routes/api-error.js';
import type { KeyRole } from '../../auth/rules/role.js';
import type { Principal } from '../../auth/principal.js';
import type { CurrentKey } from './account.schemas.js';
import { readRestrictions } from '../key.repository.js';
import { limitsSource } from '../quota.view.js';

const HINTS = { prefix: true, lastFour: true, createdAt: true, expiresAt: true } as const;
const FIELDS = {
  id: true,
  name: true,
  role: true,
  ...HINTS,
  quota: { select: { perMinute: true } },
  successor: { select: { ...HINTS, revokedAt: true } },
} as const;

/** Reads the key of a request. */
@Injectable()
export class CurrentKeyRepository {
  constructor(private readonly prisma: PrismaService) {}

  /**
   * Returns the key of a request, with the limits that the headers of its response report.
   *
   * @throws ApiError `service_unavailable` for a key that was deleted by hand just now; the database's error.
   */
  async find({ keyId, quota: { plan, perMinute, perDay } }: Principal): Promise<CurrentKey> {
    const [record, restrictionsById] = await Promise.all([
      this.prisma.apiKey.findFirst({ where: { id: keyId }, select: FIELDS }),
      readRestrictions(this.prisma, [keyId]),
    ]);
    const restrictions = restrictionsById.get(keyId);
    if (record === null || restrictions === undefined) {
      throw new ApiError('service_unavailable', 'The API key is being changed. Try again shortly.');
    }
    const { quota, successor, ...key } = record;
    return {
      ...datesAsText(key),
      role: key.role as KeyRole,
      ...restrictions,
      state: successor === null ? 'active' : 'rotating',
      plan,
      perMinute,
      perDay,
      limitsSource: limitsSource(quota.perMinute),
      successor: successor && {
        ...datesAsText(successor),
        revokedAt: successor.revokedAt?.toISOString() ?? null,
      },
    };
  }
}

function datesAsText<Fields extends { createdAt: Date; expiresAt: Date | null }>(fields: Fields) {
  const { createdAt, expiresAt } = fields;
  return { ...fields, createdAt: createdAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null };
}

import { Injectable } from '@nestjs/common';
import { Clock } from '../settings/clock.js';
import type { Period } from '../usage/rules/periods.js';
import {
  type DeprecatedCallsPosition,
  type Usage as Recorded,
  type UsagePosition,
  UsageRepository,
} from '../usage/usage.repository.js';
import { countFieldsOf } from '../usage/usage-totals.schemas.js';
import { KeyService } from './key.service.js';
import type { DeprecatedCalls, Usage } from './usage.schemas.js';

const DAY_MS = 86_400_000;

/** Selects a page of usage: `limit` entries, newest first, of the last `days` UTC days, today included. */
export interface UsagePageInput {
  period: Period;
  days: number;
  limit: number;
  after?: UsagePosition | undefined;
}

/** Lists the usage of keys. */
@Injectable()
export class UsageService {
  constructor(
    private readonly repository: UsageRepository,
    private readonly keys: KeyService,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns one page of the usage of all keys, or of the key `id`, and whether more follows.
   *
   * @throws ApiError `not_found` if there is no such key.
   */
  async page(
    { period, days, limit, after }: UsagePageInput,
    id?: string,
  ): Promise<{ usage: Usage[]; more: boolean }> {
    const keyId = id === undefined ? undefined : (await this.keys.find(id)).id;
    const today = Math.floor(this.clock.now() / DAY_MS);
    const since = new Date((today - days + 1) * DAY_MS);
    const { usage, more } = await this.repository.page({ period, since, keyId, limit, after });
    return { usage: usage.map(viewOf), more };
  }

  /** Returns one page of the keys that called deprecated operations, and whether more follow. */
  async deprecatedCalls(
    limit: number,
    after?: DeprecatedCallsPosition,
  ): Promise<{ calls: DeprecatedCalls[]; more: boolean }> {
    const { calls, more } = await this.repository.deprecatedCalls(limit, after);
    return { calls: calls.map((each) => ({ ...each, lastAt: each.lastAt.toISOString() })), more };
  }
}

function viewOf(recorded: Recorded): Usage {
  const { startsAt, lastAt, keyId, quotaId, operation, deprecated, ...counts } = recorded;
  return {
    startsAt: startsAt.toISOString(),
    keyId,
    quotaId,
    operation,
    deprecated,
    ...countFieldsOf(counts),
    lastAt: lastAt.toISOString(),
  };
}

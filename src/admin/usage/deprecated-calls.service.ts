import { Injectable } from '@nestjs/common';
import { DeprecatedOperations } from '../../deprecation/deprecated-operations.js';
import type { Page } from '../../schemas/pagination.js';
import { Clock } from '../../settings/clock.js';
import { KEPT_MS } from '../../usage/rules/periods.js';
import { type DeprecatedCallsPosition, UsageRepository } from '../../usage/usage.repository.js';
import { type DeprecatedCalls, shownBrownout } from '../../usage/usage.schemas.js';

/** Lists the callers of deprecated operations. */
@Injectable()
export class DeprecatedCallsService {
  constructor(
    private readonly repository: UsageRepository,
    private readonly operations: DeprecatedOperations,
    private readonly clock: Clock,
  ) {}

  /** Returns one page of the keys that called deprecated operations, by operation and key, with their calls in its last brownout. */
  async page(limit: number, after?: DeprecatedCallsPosition): Promise<Page<DeprecatedCalls>> {
    const { entries, last } = await this.repository.deprecatedCalls(limit, after);
    const nowMs = this.clock.now();
    const complete: DeprecatedCalls[] = [];
    for (const operation of new Set(entries.map((entry) => entry.operation))) {
      const callers = entries.filter((entry) => entry.operation === operation);
      const brownout = this.operations.lastBrownout(operation, nowMs, KEPT_MS.hour);
      const keyIds = callers.map(({ keyId }) => keyId);
      const calls = brownout === null ? [] : await this.repository.callsOfKeys(keyIds, operation, brownout);
      const byKey = new Map(calls.map(({ keyId, requests }) => [keyId, requests]));
      complete.push(
        ...callers.map((caller) => ({
          ...caller,
          lastBrownout: brownout && shownBrownout(brownout, byKey.get(caller.keyId)),
        })),
      );
    }
    return { entries: complete, last: last && (complete.at(-1) ?? null) };
  }
}

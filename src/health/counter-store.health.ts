import { Inject, Injectable } from '@nestjs/common';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import type { Health } from './health.schema.js';

/** Reports whether the counter store responds. If it does not, the service is degraded but not down. */
@Injectable()
export class CounterStoreHealth {
  private readonly kind: 'redis' | 'postgresql';

  constructor(
    private readonly store: FallbackCounterStore,
    @Inject(ENVIRONMENT) { COUNTER_STORE }: Pick<Environment, 'COUNTER_STORE'>,
  ) {
    this.kind = COUNTER_STORE === undefined ? 'postgresql' : 'redis';
  }

  async check(): Promise<Health['parts']['counterStore']> {
    const { kind } = this;
    const outage = await this.store.outage();
    return outage === null
      ? { status: 'up', kind }
      : {
          status: 'degraded',
          kind,
          since: outage.since.toISOString(),
          message: `the counter store does not respond, so this replica counts locally: ${outage.error.message}`,
        };
  }
}

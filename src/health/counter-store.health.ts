import { Inject, Injectable } from '@nestjs/common';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import type { Health } from './health.schema.js';

/** Reports whether the counter store is away. The service is then degraded, but not down. */
@Injectable()
export class CounterStoreHealth {
  private readonly kind: 'redis' | 'postgresql';

  constructor(
    private readonly store: FallbackCounterStore,
    @Inject(ENVIRONMENT) { COUNTER_STORE }: Pick<Environment, 'COUNTER_STORE'>,
  ) {
    this.kind = COUNTER_STORE === undefined ? 'postgresql' : 'redis';
  }

  check(): Health['parts']['counterStore'] {
    const {
      kind,
      store: { outage },
    } = this;
    return outage === null
      ? { status: 'up', kind }
      : {
          status: 'degraded',
          kind,
          since: outage.since.toISOString(),
          message: `the counter store is away, so this replica counts locally: ${outage.error.message}`,
        };
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';

/** Reports whether the counter store responds. If it does not, the service is degraded but not down. */
@Injectable()
export class CounterStoreHealth {
  private readonly kind: 'redis' | 'postgresql';

  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly store: FallbackCounterStore,
    @Inject(ENVIRONMENT) { COUNTER_STORE }: Pick<Environment, 'COUNTER_STORE'>,
  ) {
    this.kind = COUNTER_STORE === undefined ? 'postgresql' : 'redis';
  }

  async check(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('counterStore');
    const outage = await this.store.outage();
    return outage === null
      ? indicator.up({ kind: this.kind })
      : indicator.degraded({
          kind: this.kind,
          since: outage.since.toISOString(),
          message: `the counter store does not respond, so this replica counts locally: ${outage.error.message}`,
        });
  }
}

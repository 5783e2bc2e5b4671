import type { TestApplication } from '../support/service/application.js';
import { until } from '../support/eventually.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { countKeyLookUps } from '../support/keys/key-look-ups.js';

/** A service, with a count of its queries for keys. */
export class CountingService {
  private readonly count: () => number;

  constructor(readonly store: TestApplication) {
    this.count = countKeyLookUps(store);
  }

  get lookUps(): number {
    return this.count();
  }

  listPets(key: string): Promise<HttpResponse> {
    return send(`${this.store.url}/v1/pets`, { key });
  }

  /** Sends requests until none needs a look-up. */
  untilCached(key: string): Promise<void> {
    return this.untilLookUps(0, key);
  }

  /** Sends requests until each needs a look-up. */
  untilUncached(key: string): Promise<void> {
    return this.untilLookUps(2, key);
  }

  private untilLookUps(ofTwoRequests: number, key: string): Promise<void> {
    return until(async () => {
      const before = this.lookUps;
      await this.listPets(key);
      await this.listPets(key);
      return this.lookUps === before + ofTwoRequests;
    });
  }
}

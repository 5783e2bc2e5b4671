import { ConcurrencyLimit } from '../../src/http/connections/concurrency-limit.js';
import type { TestApplication } from '../support/service/application.js';

/** Returns how many slots of an operation are taken. */
export function slotsTaken({ app }: TestApplication, operation: string): number {
  const found = app
    .get(ConcurrencyLimit)
    .all()
    .find((each) => each.operation === operation);
  return found?.slots.length ?? 0;
}

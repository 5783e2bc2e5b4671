import { DeprecatedOperations } from '../../../src/deprecation/deprecated-operations.js';
import { HOUR_MS } from '../counters/clock.js';
import type { TestApplication } from '../service/application.js';

/** Gives `getPet` a brownout from the hour before until the next, for the reports alone: requests are served. */
export function reportBrownout({ app, clock }: TestApplication): void {
  const thisHour = Math.floor(clock.now() / HOUR_MS);
  const [from, until] = [thisHour - 1, thisHour + 1].map((hour) => new Date(hour * HOUR_MS));
  Object.assign(app.get(DeprecatedOperations).get('getPet') ?? {}, { brownouts: [{ from, until }] });
}

import { declaredRouteConfigs } from '../../../src/http/route-config.decorator.js';
import { HOUR_MS } from '../counters/clock.js';
import type { TestApplication } from '../service/application.js';

/** Gives `getPet` a brownout from the hour before until the next. */
export function declareBrownout({ clock }: TestApplication): void {
  const thisHour = Math.floor(clock.now() / HOUR_MS);
  const [from, until] = [thisHour - 1, thisHour + 1].map((hour) => new Date(hour * HOUR_MS));
  const { deprecation } = declaredRouteConfigs().find(({ operation }) => operation === 'getPet') ?? {};
  Object.assign(deprecation ?? {}, { brownouts: [{ from, until }] });
}

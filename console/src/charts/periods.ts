import type { UsageTotals } from 'animal-store-client';
import { OUTCOMES, type Outcomes, toOutcomes } from './outcomes';

export type Period = 'minute' | 'hour' | 'day';

export const PERIOD_MS: Record<Period, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

const time = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const dateAndTime = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
// The day of the service is the day in UTC.
const date = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** A bar of a chart: the requests of one period by outcome. */
export interface Bar extends Outcomes {
  startMs: number;
  /** The start for the axis, in the reader's zone; a day is one of UTC. */
  label: string;
  /** The start in full. */
  title: string;
}

const NONE: Pick<UsageTotals, 'denied' | 'statuses'> = {
  denied: 0,
  statuses: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 },
};

/** Returns a bar for each period from `fromMs` to before `untilMs`, even without requests. */
export function toBars(totals: UsageTotals[], period: Period, fromMs: number, untilMs: number): Bar[] {
  const byStart = new Map(totals.map((each) => [Date.parse(each.startsAt), each]));
  const length = PERIOD_MS[period];
  const first = Math.floor(fromMs / length);
  const count = Math.ceil(untilMs / length) - first;
  const sameDay = count * length <= PERIOD_MS.day;
  return Array.from({ length: count }, (_, index) => {
    const startMs = (first + index) * length;
    return {
      startMs,
      label: (period === 'day' ? date : sameDay ? time : dateAndTime).format(startMs),
      title: period === 'day' ? `${date.format(startMs)} (UTC)` : dateAndTime.format(startMs),
      ...toOutcomes(byStart.get(startMs) ?? NONE),
    };
  });
}

/** Returns the requests of a bar, whatever their outcome. */
export function countRequests(bar: Bar): number {
  return OUTCOMES.reduce((sum, { name }) => sum + bar[name], 0);
}

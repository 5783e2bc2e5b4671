import { matching, oneOf, searchReader } from '../address/search-reader';
import { type Period, PERIOD_MS } from '../charts/periods';

/** More bars than this are too thin to read, and a page of the service has at most 100 entries. */
const BARS_MAX = 100;
/** The least for which the service keeps them. */
const MINUTES_KEPT_MS = 2 * PERIOD_MS.day;
const HOURS_KEPT_MS = 35 * PERIOD_MS.day;

export const PRESETS = [
  { value: 'hour', label: '1 hour', lengthMs: PERIOD_MS.hour },
  { value: 'day', label: '24 hours', lengthMs: PERIOD_MS.day },
  { value: 'month', label: '30 days', lengthMs: 30 * PERIOD_MS.day },
] as const;

type Preset = (typeof PRESETS)[number]['value'];

/**
 * The address of the page: a range that ends now, or one that was dragged, in milliseconds since the Unix
 * epoch.
 */
export interface TrafficSearch {
  range?: Preset;
  from?: string;
  until?: string;
}

/** A range of time, and the periods that its chart has. */
export interface TrafficRange {
  period: Period;
  fromMs: number;
  untilMs: number;
}

const instant = matching(/^\d{1,15}$/);
const readSearch = searchReader({
  range: oneOf(PRESETS.map(({ value }) => value)),
  from: instant,
  until: instant,
});

export function trafficSearch(search: Record<string, unknown>): TrafficSearch {
  const { range, from, until } = readSearch(search);
  if (from !== undefined && until !== undefined && isShown(Number(until) - Number(from))) {
    return { from, until };
  }
  return range === undefined ? {} : { range };
}

/** Returns the range of an address at `nowMs`, from the start of a period to the end of one. */
export function toRange({ range = 'day', from, until }: TrafficSearch, nowMs: number): TrafficRange {
  const lengthMs = PRESETS.find(({ value }) => value === range)?.lengthMs ?? PERIOD_MS.day;
  const fromMs = from === undefined ? nowMs - lengthMs : Number(from);
  const untilMs = until === undefined ? nowMs : Number(until);
  const period = periodFor(untilMs - fromMs, nowMs - fromMs);
  const length = PERIOD_MS[period];
  const endMs = Math.ceil(untilMs / length) * length;
  // A range that ends now has the current period instead of the first, which is no longer complete.
  const startMs =
    from === undefined
      ? endMs - Math.round(lengthMs / length) * length
      : Math.floor(fromMs / length) * length;
  return { period, fromMs: startMs, untilMs: endMs };
}

/** Returns the query that selects a range. */
export function toQuery({ period, fromMs, untilMs }: TrafficRange) {
  return { period, since: new Date(fromMs).toISOString(), until: new Date(untilMs).toISOString() };
}

/** Returns the finest period that is still kept and gives few enough bars. */
function periodFor(lengthMs: number, ageMs: number): Period {
  if (ageMs < MINUTES_KEPT_MS && lengthMs <= BARS_MAX * PERIOD_MS.minute) {
    return 'minute';
  }
  return ageMs < HOURS_KEPT_MS && lengthMs <= BARS_MAX * PERIOD_MS.hour ? 'hour' : 'day';
}

/** Returns whether a range is not empty, and short enough for the bars of days. */
function isShown(lengthMs: number): boolean {
  return lengthMs > 0 && lengthMs <= BARS_MAX * PERIOD_MS.day;
}

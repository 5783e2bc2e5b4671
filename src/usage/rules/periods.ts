import { DAY_MS } from '../../process/time-units.js';

/** UTC periods of usage, from the finest to the coarsest. */
export const PERIODS = ['minute', 'hour', 'day'] as const;

/**
 * The milliseconds for which usage of hours and days is kept after the period ends. That of minutes is the
 * setting USAGE_MINUTE_RETENTION.
 */
export const KEPT_MS = { hour: 35 * DAY_MS, day: 400 * DAY_MS } as const;

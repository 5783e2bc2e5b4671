/** The hours for which usage of each UTC period is kept after the period ends. */
export const KEPT_HOURS = { minute: 48, hour: 35 * 24, day: 400 * 24 } as const;

export type Period = keyof typeof KEPT_HOURS;

/** From the finest to the coarsest. */
export const PERIODS = Object.keys(KEPT_HOURS) as Period[];

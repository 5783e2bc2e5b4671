/** The limits of a quota that the administrator creates, and how often clients use its keys beside others. */
export interface NewQuota {
  perMinute: number;
  perDay: number;
  weight: number;
}

const WIDE = { perMinute: 100_000, perDay: 10_000_000 };
const MIDDLE = { perMinute: 1000, perDay: 100_000 };
const NARROW = { perMinute: 60, perDay: 1000 };
const TIGHT_DAY = { perMinute: 300, perDay: 500 };

/**
 * The quotas of every run. The first is never changed: all clients share its key for creations at the same
 * time.
 */
export const FIRST_QUOTAS: NewQuota[] = [
  { ...WIDE, weight: 12 },
  ...Array.from({ length: 5 }, () => ({ ...WIDE, weight: 8 })),
  ...Array.from({ length: 4 }, () => ({ ...MIDDLE, weight: 2 })),
  ...Array.from({ length: 4 }, () => ({ ...NARROW, weight: 0.5 })),
  ...Array.from({ length: 2 }, () => ({ ...TIGHT_DAY, weight: 0.5 })),
];

/** The quotas that are added during a run. */
export const OTHER_QUOTAS: NewQuota[] = [
  { ...WIDE, weight: 8 },
  { ...MIDDLE, weight: 2 },
  { ...NARROW, weight: 0.5 },
  { ...TIGHT_DAY, weight: 0.5 },
];

/** The limits that a plan change may set. */
export const OTHER_LIMITS = [
  WIDE,
  { perMinute: 3000, perDay: 1_000_000 },
  MIDDLE,
  NARROW,
  TIGHT_DAY,
  { perMinute: 5, perDay: 5000 },
];

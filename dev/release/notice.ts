import { type Json } from './compare-schemas.js';

/** Months from the release that announces a change until it may come; see docs/versioning.md. */
export const NOTICE_MONTHS: Record<string, number> = { stable: 12, beta: 1, experimental: 0 };

/** The documents of a release, and when it was published. */
export interface Announcement {
  /** The day, as 2026-12-05. */
  date: string;
  document: Json;
}

/** Whether an operation may change on a day, and why not. */
type Notice = { given: true } | { given: false; why: string };

/**
 * Returns whether the notice for a breaking change of an operation was given: an experimental operation
 * needs none; others must be deprecated in a release for as long as their stability says, and until their
 * removal.
 *
 * @param operation the operation as the last release has it.
 * @param announcements of all releases, oldest first.
 * @param find returns the operation in the document of a release.
 * @param today the day, as 2026-12-05.
 */
export function findNotice(
  operation: Json,
  announcements: Announcement[],
  find: (document: Json) => Json | undefined,
  today: string,
): Notice {
  const stability = (operation['x-stability'] ?? 'stable') as string;
  const months = NOTICE_MONTHS[stability] ?? 0;
  if (months === 0) {
    return { given: true };
  }
  const period = months === 1 ? '1 month' : `${months} months`;
  const without = announcements.findLastIndex(({ document }) => find(document)?.['deprecated'] !== true);
  const first = announcements[without + 1];
  if (operation['deprecated'] !== true || first === undefined) {
    const why =
      `The operation is ${stability}, and no notice was given: deprecate it (@Deprecated) in a release ` +
      `that is published at least ${period} before.`;
    return { given: false, why };
  }
  const [noticed = ''] = [addMonths(first.date, months), operation['x-sunset'] as string | undefined]
    .filter((day) => day !== undefined)
    .toSorted()
    .slice(-1);
  const why =
    `The operation is ${stability}, and its notice was given on ${first.date}: this may come on ` +
    `${noticed}, after ${period} and the day of its removal.`;
  return today >= noticed ? { given: true } : { given: false, why };
}

/** Returns the same day that many months later; both as 2026-12-05. */
export function addMonths(day: string, months: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString().slice(0, 10);
}

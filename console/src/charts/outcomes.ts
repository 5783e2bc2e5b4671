import type { UsageTotals } from 'animal-store-client';

/** The outcomes of requests, from the bottom of a bar to its top. The colours differ in lightness too. */
export const OUTCOMES = [
  { name: 'succeeded', label: 'Succeeded', color: '#2b9a6c' },
  { name: 'redirected', label: 'Not modified', color: '#7d8c99' },
  { name: 'rejected', label: 'Client error', color: '#c27c0e' },
  { name: 'denied', label: 'Over the limit (429)', color: '#7048e8' },
  { name: 'failed', label: 'Server error', color: '#d6336c' },
] as const;

type Outcome = (typeof OUTCOMES)[number]['name'];
export type Outcomes = Record<Outcome, number>;

/** Returns the requests of an entry by outcome. Denied ones are client errors of the service, too. */
export function toOutcomes({ denied, statuses }: Pick<UsageTotals, 'denied' | 'statuses'>): Outcomes {
  return {
    succeeded: statuses['2xx'],
    redirected: statuses['3xx'],
    rejected: statuses['4xx'] - denied,
    denied,
    failed: statuses['5xx'],
  };
}

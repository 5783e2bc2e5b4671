import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { pollIntervalMs } from '../overview/poll-interval';
import { useOwnKey } from '../session/own-key';

/** How many reports the page has. */
const REPORTS = 5;

/**
 * Loads a report, and reloads it as often as the limits of the key allow. The shown report stays until the
 * next one has loaded.
 */
export function useReport<Report>(
  queryKey: readonly unknown[],
  load: (signal: AbortSignal) => PromiseLike<Report>,
) {
  const { data: key } = useOwnKey();
  return useQuery({
    queryKey: ['traffic', ...queryKey],
    queryFn: ({ signal }) => Promise.resolve(load(signal)),
    placeholderData: keepPreviousData,
    refetchInterval: pollIntervalMs(key?.perDay, REPORTS),
  });
}

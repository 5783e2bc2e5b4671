import { useQuery } from '@tanstack/react-query';
import { LimitGauges } from '../overview/limit-gauges';
import { pollIntervalMs } from '../overview/poll-interval';
import { useOwnKey } from '../session/own-key';
import { useStore } from '../session/session';
import { quotaRateLimitQuery } from './key-query';

/** Shows the windows and the ban of a key's quota. Reading them counts against the signed-in key. */
export function KeyLimits({ quotaId }: { quotaId: string }) {
  const { data: ownKey } = useOwnKey();
  const pollMs = pollIntervalMs(ownKey?.perDay);
  const status = useQuery(quotaRateLimitQuery(useStore(), quotaId, pollMs));
  return <LimitGauges query={status} onEnd={() => undefined} />;
}

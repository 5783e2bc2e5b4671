import { useEffect, useState } from 'react';
import { serviceNowMs } from '../session/service-clock';
import { Instant } from './instant';

const MINUTE_MS = 60_000;
const UNITS = [
  ['day', 1440],
  ['hour', 60],
  ['minute', 1],
] as const;
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'always', style: 'short' });

/** Shows how long ago a time was, to the minute, and the time itself on hover and focus. */
export function RelativeInstant({ at }: { at: string | null }) {
  const nowMs = useMinutes();
  return <Instant at={at} {...(at !== null && { text: agoText(nowMs - Date.parse(at)) })} />;
}

/** Returns a time ago as its largest unit, such as "5 min ago". */
function agoText(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  const found = UNITS.find(([, length]) => minutes >= length);
  return found === undefined ? 'Just now' : relative.format(-Math.floor(minutes / found[1]), found[0]);
}

/** Returns the time now by the service's clock, again each minute. */
function useMinutes(): number {
  const [nowMs, setNowMs] = useState(serviceNowMs);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(serviceNowMs()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

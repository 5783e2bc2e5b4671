import type { DeprecatedCalls } from 'animal-store-client';
import { Instant } from '../format/instant';
import { countText } from '../format/number';

/** Shows how often an operation was called in its last brownout, and when that was. */
export function BrownoutCalls({ brownout }: { brownout: DeprecatedCalls['lastBrownout'] }) {
  return brownout === null ? (
    'None in 35 days'
  ) : (
    <>
      {countText(brownout.requests, 'request')} from <Instant at={brownout.from} /> to{' '}
      <Instant at={brownout.until} />
    </>
  );
}

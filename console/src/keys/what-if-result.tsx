import { Stack, Text } from '@mantine/core';
import type { WhatIf } from 'animal-store-client';
import { Instant } from '../format/instant';
import { limitsText } from '../format/limits';
import { countText, numberText } from '../format/number';
import { Fact } from '../layout/fact';

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 });

/** Shows what limits would have denied, and the plans that would have sufficed. */
export function WhatIfResult({ whatIf }: { whatIf: WhatIf }) {
  const { requests, denied, deniedMinutes, deniedDays, worstMinute, smallestPlan } = whatIf;
  return (
    <Stack gap="sm">
      <Fact label="Tried">{limitsText(whatIf)}</Fact>
      <Fact label="Range">
        Since <Instant at={whatIf.since} />, with requests on {countText(whatIf.recordedDays, 'day')}
      </Fact>
      <Fact label="Requests">{numberText(requests)}, also those that were denied when they were sent</Fact>
      <Fact label="Denied">
        {denied === 0
          ? 'None'
          : `${numberText(denied)} (${percent.format(denied / requests)}), in ` +
            `${countText(deniedMinutes, 'minute')} on ${countText(deniedDays, 'day')}`}
      </Fact>
      {worstMinute !== null && (
        <Fact label="Worst minute">
          <Instant at={worstMinute.startsAt} />: {numberText(worstMinute.denied)} of{' '}
          {countText(worstMinute.requests, 'request')}
        </Fact>
      )}
      <Fact label="Denies none">{smallestPlan.denyingNone ?? 'No plan'}</Fact>
      <Fact label="Under 0.1 %">{smallestPlan.denyingFew ?? 'No plan'}</Fact>
      <Text size="sm" c="dimmed">
        The last two are the smallest plans that would have denied none, and fewer than one in a thousand.
        Requests that were repeated after a 429 count again. Bans are left out.
      </Text>
    </Stack>
  );
}

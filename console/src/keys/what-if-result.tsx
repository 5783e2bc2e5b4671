import { Stack, Text } from '@mantine/core';
import type { WhatIf } from 'animal-store-client';
import { Instant } from '../format/instant';
import { limitsText } from '../format/limits';
import { countText, numberText } from '../format/number';
import { Fact } from '../layout/fact';

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 });

/** Shows what limits would have denied, and the plans that would have sufficed. */
export function WhatIfResult({ whatIf }: { whatIf: WhatIf }) {
  const { requests, denied, deniedMinutes, deniedDays, worstMinute, smallestPlans } = whatIf;
  return (
    <Stack gap="sm">
      <Fact label="Tried">{limitsText(whatIf)}</Fact>
      <Fact label="Range">
        Since <Instant at={whatIf.since} />, with requests on {countText(whatIf.recordedDays, 'day')}
      </Fact>
      <Fact label="Requests">
        {numberText(requests)}, those that were denied when they were sent included
      </Fact>
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
      {smallestPlans.map(({ maxDeniedRatio, plan }) => (
        <Fact
          key={maxDeniedRatio}
          label={
            maxDeniedRatio === 0
              ? 'Smallest plan that denies none'
              : `Smallest plan that denies at most ${percent.format(maxDeniedRatio)}`
          }
        >
          {plan ?? 'No plan'}
        </Fact>
      ))}
      <Text size="sm" c="dimmed">
        Requests that were repeated after a 429 count again. Bans are ignored.
      </Text>
    </Stack>
  );
}

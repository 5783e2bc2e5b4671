import { Stack, Text } from '@mantine/core';
import type { RateLimitStatus } from 'animal-store-client';
import { Countdown } from '../feedback/countdown';
import { countText, numberText } from '../format/number';
import { Instant } from '../format/instant';
import { Panel } from '../layout/panel';

/** Shows the ban of the key, or how many denials are left before one. */
export function BanPanel({ status, onEnd }: { status: RateLimitStatus; onEnd: () => void }) {
  const { bannedUntil, denialsUntilBan } = status;
  if (bannedUntil !== null) {
    return (
      <Panel title="Banned" className="panel whole-row">
        <Stack gap="sm">
          <Text fz={{ base: 26, sm: 34 }} lh={1.1} fw={650} c="red">
            <Countdown untilMs={Date.parse(bannedUntil)} onEnd={onEnd} />
          </Text>
          <Text size="sm" c="dimmed">
            Requests are denied until <Instant at={bannedUntil} />, except those that replace or revoke a
            leaked key. Requests during the ban do not extend it. An administrator can lift it.
          </Text>
        </Stack>
      </Panel>
    );
  }
  return (
    <Panel title="Denials before a ban" className="panel whole-row">
      <Stack gap="sm">
        <Text fz={{ base: 26, sm: 34 }} lh={1.1} fw={650}>
          {denialsUntilBan === null ? 'No bans' : numberText(denialsUntilBan)}
        </Text>
        <Text size="sm" c="dimmed">
          {denialsUntilBan === null
            ? 'This service denies requests over the limit, but bans no key.'
            : `A ban follows ${countText(denialsUntilBan, 'more denial')} (429) within this minute.`}
        </Text>
      </Stack>
    </Panel>
  );
}

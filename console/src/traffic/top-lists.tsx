import { Badge, Code, Group, Switch } from '@mantine/core';
import { useState } from 'react';
import { countText } from '../format/number';
import { KeyLink } from '../keys/key-link';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';
import { ReportPanel } from './report-panel';
import { ShareList } from './share-list';
import { toQuery, toRange, type TrafficSearch } from './traffic-range';
import { useReport } from './use-report';

const SHOWN = 8;
const HEIGHT = 320;

/** Lists the keys with the most requests in a range; by choice the keys of a quota as one. */
export function TopKeys({ search }: { search: TrafficSearch }) {
  const store = useStore();
  const [by, setBy] = useState<'key' | 'quota'>('key');
  const report = useReport(['top-keys', search, by], (signal) =>
    store.admin.usage.topKeys({ ...toQuery(toRange(search, serviceNowMs())), limit: SHOWN, by }, { signal }),
  );
  return (
    <ReportPanel
      title="Top keys"
      report={report}
      loading={HEIGHT}
      actions={
        <Switch
          label="Group by quota"
          checked={by === 'quota'}
          onChange={(event) => setBy(event.currentTarget.checked ? 'quota' : 'key')}
        />
      }
    >
      {(keys) => (
        <ShareList
          label="Top keys"
          items={keys.map(({ keyId, keyName, requests, refusals, ...hints }) => ({
            id: keyId,
            label: <KeyLink id={keyId} apiKey={{ ...hints, name: keyName }} />,
            note: refusals > 0 ? countText(refusals, 'refusal') : null,
            value: requests,
          }))}
        />
      )}
    </ReportPanel>
  );
}

/** Lists the operations of a range, the most called first. */
export function TopOperations({ search }: { search: TrafficSearch }) {
  const store = useStore();
  const report = useReport(['operations', search], (signal) =>
    store.admin.usage.operations(toQuery(toRange(search, serviceNowMs())), { signal }),
  );
  return (
    <ReportPanel title="Operations" report={report} loading={HEIGHT}>
      {(operations) => (
        <ShareList
          label="Operations"
          items={operations.slice(0, SHOWN).map(({ operation, deprecated, requests }) => ({
            id: `${operation} ${deprecated}`,
            label: (
              <Group gap="xs" wrap="nowrap">
                {operation === 'none' ? 'No operation (404, 405)' : <Code>{operation}</Code>}
                {deprecated && (
                  <Badge size="xs" color="orange" variant="light">
                    Deprecated
                  </Badge>
                )}
              </Group>
            ),
            value: requests,
          }))}
        />
      )}
    </ReportPanel>
  );
}

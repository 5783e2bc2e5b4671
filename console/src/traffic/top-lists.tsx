import { Badge, Code, Group, Switch } from '@mantine/core';
import { useState } from 'react';
import { numberText } from '../format/number';
import { KeyLink } from '../keys/key-link';
import { QuotaLink } from '../keys/quota-link';
import { DownloadCsv } from '../overview/download-csv';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';
import { ReportPanel } from './report-panel';
import { ShareList } from './share-list';
import { toQuery, toRange, type TrafficSearch } from './traffic-range';
import { useReport } from './use-report';

const SHOWN = 8;
const HEIGHT = 320;

/** Lists the keys, or by choice the quotas, with the most requests in a range. */
export function TopUsage({ search }: { search: TrafficSearch }) {
  const store = useStore();
  const [by, setBy] = useState<'key' | 'quota'>('key');
  const report = useReport(['top', search, by], (signal) =>
    store.admin.usage.top({ ...toQuery(toRange(search, serviceNowMs())), limit: SHOWN, by }, { signal }),
  );
  const title = by === 'quota' ? 'Top quotas' : 'Top keys';
  return (
    <ReportPanel
      title={title}
      report={report}
      loading={HEIGHT}
      actions={
        <Group gap="sm">
          <Switch
            label="Group by quota"
            checked={by === 'quota'}
            onChange={(event) => setBy(event.currentTarget.checked ? 'quota' : 'key')}
          />
          <DownloadCsv
            name={by === 'quota' ? 'usage-top-quotas' : 'usage-top-keys'}
            list={() => store.admin.usage.topCsv({ ...toQuery(toRange(search, serviceNowMs())), by })}
          />
        </Group>
      }
    >
      {({ items }) => (
        <ShareList
          label={title}
          items={items.map(({ keyId, keyName, quotaId, externalId, plan, requests, denied, ...hints }) => ({
            id: keyId ?? quotaId,
            label:
              keyId === null ? (
                <QuotaLink id={quotaId} externalId={externalId} plan={plan} />
              ) : (
                <KeyLink id={keyId} apiKey={{ ...hints, name: keyName }} />
              ),
            note: denied > 0 ? `${numberText(denied)} denied` : null,
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
    store.admin.usage.byOperation({ ...toQuery(toRange(search, serviceNowMs())), limit: SHOWN }, { signal }),
  );
  return (
    <ReportPanel title="Operations" report={report} loading={HEIGHT}>
      {({ items }) => (
        <ShareList
          label="Operations"
          items={items.map(({ operation, deprecated, requests }) => ({
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

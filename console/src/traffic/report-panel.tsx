import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loaded } from '../feedback/loaded';
import { Panel } from '../layout/panel';

interface ReportPanelProps<Report> {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  report: UseQueryResult<Report>;
  /** What is shown while it loads; a number is the height of a skeleton in pixels. */
  loading: ReactNode;
  children: (report: Report) => ReactNode;
}

/** A panel with a report, or with what keeps it from being shown. */
export function ReportPanel<Report>({ report, loading, children, ...panel }: ReportPanelProps<Report>) {
  return (
    <Panel {...panel} h="100%">
      <Loaded
        query={report}
        skeleton={typeof loading === 'number' ? <Skeleton height={loading} radius="md" /> : loading}
      >
        {children}
      </Loaded>
    </Panel>
  );
}

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
  /** Of the skeleton in its place, in pixels. */
  height: number;
  children: (report: Report) => ReactNode;
}

/** A panel with a report, or with what keeps it from being shown. */
export function ReportPanel<Report>({ report, height, children, ...panel }: ReportPanelProps<Report>) {
  return (
    <Panel {...panel} h="100%">
      <Loaded query={report} skeleton={<Skeleton height={height} radius="md" />}>
        {children}
      </Loaded>
    </Panel>
  );
}

import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../feedback/error-notice';
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
  const { data, error, errorUpdatedAt, refetch } = report;
  return (
    <Panel {...panel} h="100%">
      {error !== null && <ErrorNotice key={errorUpdatedAt} error={error} retry={refetch} />}
      {data !== undefined ? children(data) : error === null && <Skeleton height={height} radius="md" />}
    </Panel>
  );
}

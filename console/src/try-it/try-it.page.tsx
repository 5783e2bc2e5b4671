import './try-it.css';
import { Box, Button, Grid, Skeleton, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconList, IconZoomQuestion } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { EmptyState } from '../feedback/empty-state';
import { ErrorNotice } from '../feedback/error-notice';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { useOwnKey } from '../session/own-key';
import { operationsQuery } from './documents-query';
import { OperationList } from './operation-list';
import { OperationPanel } from './operation-panel';

/** Any operation of the service: its form, its `curl` line, and the response with each header explained. */
export function TryItPage() {
  const { operation: wanted } = useSearch({ from: '/try' });
  const [isListOpen, list] = useDisclosure(false);
  const { operations, failed, retry, isComplete } = useOperations();
  const chosen =
    operations.find(({ id }) => id === wanted) ?? (wanted === undefined ? operations[0] : undefined);
  return (
    <Page
      title="Try it"
      description="Every request here is real: it counts against your key, and changes what it says"
    >
      {failed !== undefined ? (
        <ErrorNotice error={failed.error} at={failed.errorUpdatedAt} retry={retry} />
      ) : (
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 4, lg: 3 }}>
            <Button
              hiddenFrom="md"
              variant="default"
              fullWidth
              leftSection={<IconList size={16} aria-hidden />}
              onClick={list.toggle}
              aria-expanded={isListOpen}
            >
              Choose an operation
            </Button>
            <Box {...(!isListOpen && { visibleFrom: 'md' })} className="try-list">
              {operations.length === 0 ? (
                <Skeleton height={420} radius="md" />
              ) : (
                <OperationList operations={operations} currentId={chosen?.id} onChoose={list.close} />
              )}
            </Box>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 8, lg: 9 }}>
            {chosen !== undefined ? (
              <OperationPanel key={chosen.id} operation={chosen} />
            ) : isComplete ? (
              <Panel>
                <EmptyState icon={IconZoomQuestion} title="There is no such operation">
                  The address may be mistyped, or the operation is for administrators.
                </EmptyState>
              </Panel>
            ) : (
              <Stack gap="lg">
                <Skeleton height={420} radius="lg" />
                <Skeleton height={160} radius="lg" />
              </Stack>
            )}
          </Grid.Col>
        </Grid>
      )}
    </Page>
  );
}

/** The operations that the signed-in key may use. Those of the store do not wait for the role of the key. */
function useOperations() {
  const key = useOwnKey();
  const isAdministrator = key.data?.role === 'admin';
  const store = useQuery(operationsQuery(false));
  const administration = useQuery({ ...operationsQuery(true), enabled: isAdministrator });
  const failed = [store, administration].filter((query) => query.isLoadingError);
  return {
    operations: [...(store.data ?? []), ...(administration.data ?? [])],
    failed: failed[0],
    retry: () => Promise.all(failed.map(({ refetch }) => refetch())),
    isComplete: store.isSuccess && !key.isPending && (!isAdministrator || administration.isSuccess),
  };
}

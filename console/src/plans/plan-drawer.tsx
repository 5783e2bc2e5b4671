import { Drawer, Skeleton, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ErrorNotice } from '../feedback/error-notice';
import { Loaded } from '../feedback/loaded';
import { useStore } from '../session/session';
import { EditPlan } from './edit-plan';
import { KeysOnPlan } from './keys-on-plan';

interface PlanDrawerProps {
  /** Of the plan; nothing closes the drawer. */
  name: string | undefined;
  onClose: () => void;
}

/** Shows one plan: its limits to edit, and the keys on it. */
export function PlanDrawer({ name, onClose }: PlanDrawerProps) {
  return (
    <Drawer
      opened={name !== undefined}
      onClose={onClose}
      position="right"
      title={`Plan ${name ?? ''}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {name !== undefined && <PlanDetails key={name} name={name} />}
    </Drawer>
  );
}

function PlanDetails({ name }: { name: string }) {
  const store = useStore();
  const query = useQuery({
    queryKey: ['plans', 'plan', name],
    queryFn: ({ signal }) => store.admin.plans.get(name, { signal }),
  });
  const { data, error, errorUpdatedAt, refetch } = query;
  if (error !== null && data === undefined) {
    return <ErrorNotice error={error} at={errorUpdatedAt} retry={refetch} />;
  }
  return (
    <Stack gap="xl">
      <Loaded query={query} skeleton={<Skeleton height={160} radius="md" />}>
        {(plan) => <EditPlan key={JSON.stringify(plan)} plan={plan} />}
      </Loaded>
      <section aria-labelledby="keys-on-plan">
        <Title order={2} id="keys-on-plan" mb="sm">
          Keys on this plan
        </Title>
        <KeysOnPlan plan={name} />
      </section>
    </Stack>
  );
}

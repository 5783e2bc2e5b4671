import { Drawer, Skeleton, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorNotice } from '../feedback/error-notice';
import { Loaded } from '../feedback/loaded';
import { useStore } from '../session/session';
import { EditPlan, type EditPlanProps } from './edit-plan';
import { KeysOnPlan } from './keys-on-plan';
import { planQuery } from './plan-query';

interface PlanDrawerProps {
  /** Names the plan to show; the drawer is closed if it is undefined. */
  name: string | undefined;
  onClose: () => void;
}

/** Shows one plan: its limits to edit, and the keys on it. */
export function PlanDrawer({ name, onClose }: PlanDrawerProps) {
  const [isConfirming, setConfirming] = useState(false);
  return (
    <Drawer
      opened={name !== undefined}
      onClose={onClose}
      // Escape closes only the dialog in front of the drawer.
      closeOnEscape={!isConfirming}
      position="right"
      title={`Plan ${name ?? ''}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {name !== undefined && (
        <PlanDetails key={name} name={name} confirmation={{ isConfirming, setConfirming }} />
      )}
    </Drawer>
  );
}

interface PlanDetailsProps {
  name: string;
  confirmation: Pick<EditPlanProps, 'isConfirming' | 'setConfirming'>;
}

function PlanDetails({ name, confirmation }: PlanDetailsProps) {
  const query = useQuery(planQuery(useStore(), name));
  const { data, error, errorUpdatedAt, refetch } = query;
  if (error !== null && data === undefined) {
    return <ErrorNotice error={error} at={errorUpdatedAt} retry={refetch} />;
  }
  return (
    <Stack gap="xl">
      <Loaded query={query} skeleton={<Skeleton height={160} radius="md" />}>
        {(plan) => <EditPlan plan={plan} {...confirmation} />}
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

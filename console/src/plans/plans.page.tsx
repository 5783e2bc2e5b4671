import { Text, VisuallyHidden } from '@mantine/core';
import { IconPlus, IconStack2 } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Plan } from 'animal-store-client';
import { useState } from 'react';
import { EmptyState } from '../feedback/empty-state';
import { countText, numberText } from '../format/number';
import { ScopedButton } from '../form/scoped-button';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { type Column, DataTable } from '../table/data-table';
import { useAddressPosition } from '../table/use-address-position';
import { useCursorPages } from '../table/use-cursor-pages';
import { TextLink } from '../layout/text-link';
import { NewPlanDialog } from './new-plan-dialog';
import { PlanDrawer } from './plan-drawer';

const route = getRouteApi('/admin/plans');

const COLUMNS: Column<Plan>[] = [
  {
    header: 'Plan',
    id: 'name',
    cell: ({ row: { original } }) => (
      <TextLink to="/admin/plans" search={(now) => ({ ...now, plan: original.name })} state fw={600}>
        {original.name}
      </TextLink>
    ),
  },
  {
    header: 'Per minute',
    id: 'perMinute',
    cell: ({ row: { original } }) => <Limit value={original.perMinute} />,
  },
  { header: 'Per day', id: 'perDay', cell: ({ row: { original } }) => <Limit value={original.perDay} /> },
  {
    header: 'Key lifetime',
    id: 'maxKeyLifetimeDays',
    cell: ({ row: { original } }) => <Lifetime days={original.maxKeyLifetimeDays} />,
  },
  {
    header: 'Valid keys',
    id: 'keys',
    cell: ({ row: { original } }) => (
      <Text component="span" inherit className="one-line">
        {numberText(original.validKeyCount)}{' '}
        <TextLink to="/admin/keys" search={{ plan: original.name }} size="sm" ml="xs">
          All keys
          <VisuallyHidden> on {original.name}</VisuallyHidden>
        </TextLink>
      </Text>
    ),
  },
];

/** Lists the plans with their limits, and opens one to edit it and to see who is on it. */
export function PlansPage() {
  const store = useStore();
  const { plan, ...page } = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, setCreating] = useState(false);
  const pages = useCursorPages({
    queryKey: ['plans'],
    load: (cursor, signal) => store.admin.plans.list({ limit: 20, ...(cursor && { cursor }) }, { signal }),
    position: useAddressPosition(page),
  });
  const newPlan = (
    <ScopedButton
      scope="admin:write"
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => setCreating(true)}
    >
      New plan
    </ScopedButton>
  );
  return (
    <Page
      title="Plans"
      description="The limits of each plan. A quota may have limits of its own."
      actions={newPlan}
    >
      <Panel>
        <DataTable
          label="Plans"
          columns={COLUMNS}
          pages={pages}
          minWidth={560}
          numbers={['perMinute', 'perDay', 'keys']}
          empty={
            <EmptyState icon={IconStack2} title="No plans yet" action={newPlan}>
              A key needs a plan. Create one with its limits.
            </EmptyState>
          }
        />
      </Panel>
      <NewPlanDialog opened={isCreating} onClose={() => setCreating(false)} />
      <PlanDrawer
        name={plan}
        onClose={() => void navigate({ search: ({ plan: _closed, ...now }) => now, state: true })}
      />
    </Page>
  );
}

function Limit({ value }: { value: number | null }) {
  return value === null ? (
    <Text component="span" inherit c="dimmed">
      Set for each quota
    </Text>
  ) : (
    numberText(value)
  );
}

function Lifetime({ days }: { days: number | null }) {
  return days === null ? (
    <Text component="span" inherit c="dimmed">
      Any
    </Text>
  ) : (
    `At most ${countText(days, 'day')}`
  );
}

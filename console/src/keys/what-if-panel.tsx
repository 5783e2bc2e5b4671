import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import type { GetWhatIfQuery, Key, Plan } from 'animal-store-client';
import { useState } from 'react';
import { Loaded } from '../feedback/loaded';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { PlanFields } from './dialogs/plan-fields';
import { quotaErrors, quotaFields } from './dialogs/quota-values';
import { WithPlans } from './with-plans';
import { WhatIfResult } from './what-if-result';

/** Tries limits on what all keys of a key's quota sent. Loads nothing before the form is sent. */
export function WhatIfPanel({ apiKey }: { apiKey: Pick<Key, 'quotaId' | 'plan'> }) {
  const [isOpen, setIsOpen] = useState(false);
  const [tried, setTried] = useState<GetWhatIfQuery | null>(null);
  return (
    <Panel
      title="What if"
      description="How many recorded requests other limits would have denied (all keys of this quota)"
      actions={
        !isOpen && (
          <Button variant="default" size="xs" onClick={() => setIsOpen(true)}>
            Try limits
          </Button>
        )
      }
    >
      {isOpen && (
        <Stack gap="lg">
          <WithPlans>{(plans) => <LimitsForm plan={apiKey.plan} plans={plans} onTry={setTried} />}</WithPlans>
          {tried !== null && <TriedLimits quotaId={apiKey.quotaId} tried={tried} />}
        </Stack>
      )}
    </Panel>
  );
}

interface LimitsFormProps {
  /** The name of the plan of the key. Another is chosen at first. */
  plan: string;
  plans: Plan[];
  onTry: (tried: GetWhatIfQuery) => void;
}

function LimitsForm({ plan, plans, onTry }: LimitsFormProps) {
  const planNamed = (name: string) => plans.find((each) => each.name === name);
  const [first] = useState(() => otherPlan(plans, plan));
  const [chosen, setChosen] = useState(first);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { plan: first, perMinute: '', perDay: '' },
    validate: (values) => quotaErrors(values, planNamed(values.plan)),
    onValuesChange: (values) => setChosen(values.plan),
  });
  const submit = form.onSubmit(
    (values) => onTry(quotaFields(values)),
    (errors) => form.getInputNode(errors['perMinute'] === undefined ? 'perDay' : 'perMinute')?.focus(),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <PlanFields form={form} plans={plans} plan={planNamed(chosen)} />
        <Group>
          <Button type="submit">Show what they would have denied</Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Returns the name of the next larger plan, else of another one; its own if there is no other. */
function otherPlan(plans: Plan[], name: string): string {
  const limitOf = ({ perMinute }: Plan) => perMinute ?? 0;
  const own = plans.find((each) => each.name === name);
  const others = plans
    .filter((each) => each.name !== name && each.perMinute !== null)
    .toSorted((one, other) => limitOf(one) - limitOf(other));
  const larger = others.find((each) => own !== undefined && limitOf(each) > limitOf(own));
  return (larger ?? others.at(-1))?.name ?? name;
}

function TriedLimits({ quotaId, tried }: { quotaId: string; tried: GetWhatIfQuery }) {
  const store = useStore();
  const query = useQuery({
    queryKey: ['what-if', quotaId, tried],
    queryFn: ({ signal }) => store.admin.quotas.whatIf(quotaId, tried, { signal }),
  });
  return (
    <div role="status">
      <Loaded query={query} skeleton={<Skeleton height={200} radius="md" />}>
        {(whatIf) => <WhatIfResult whatIf={whatIf} />}
      </Loaded>
    </div>
  );
}

import { Group, TextInput } from '@mantine/core';
import { type NewOrder, NotFoundError, type Order } from 'animal-store-client';
import { useRef } from 'react';
import { FormDialog } from '../form/form-dialog';
import { toInteger } from '../form/integer';
import { LocalTimeInput } from '../form/local-time-input';
import { useSubmission } from '../form/use-submission';
import { useStore } from '../session/session';
import { NotOffered } from './not-offered';
import { StabilityBadge } from '../format/stability-badge';

interface PlaceOrderDialogProps {
  opened: boolean;
  onClose: () => void;
  onPlaced: (order: Order) => unknown;
}

/** Asks for a new order and places it, if the service offers that. */
export function PlaceOrderDialog({ opened, onClose, onPlaced }: PlaceOrderDialogProps) {
  const store = useStore();
  const shipDateInput = useRef<HTMLInputElement>(null);
  const { form, ...submission } = useSubmission({
    initialValues: { petId: '', quantity: '1', shipDate: '' },
    // The value of a date that is not complete is empty.
    validate: () =>
      shipDateInput.current?.validity.badInput === true
        ? { shipDate: 'Complete the date and time, or clear them' }
        : {},
    send: ({ petId, quantity, shipDate }, idempotencyKey): Promise<Order> => {
      const order: Record<keyof NewOrder, unknown> = {
        petId: toInteger(petId),
        quantity: toInteger(quantity),
        shipDate: shipDate ? new Date(shipDate).toISOString() : undefined,
      };
      return store.orders.create(order as unknown as NewOrder, { idempotencyKey });
    },
    onSent: onPlaced,
  });
  const title = (
    <Group gap="xs">
      Place an order <StabilityBadge stability="experimental" />
    </Group>
  );
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={title}
      submission={submission}
      action="Place order"
      failure="The order was not placed"
      instead={submission.error instanceof NotFoundError ? <NotOffered onClose={onClose} /> : undefined}
    >
      <TextInput
        {...form.getInputProps('petId')}
        label="Animal ID"
        description="As the list of animals shows it"
        withAsterisk
        autoComplete="off"
        inputMode="numeric"
        data-autofocus
      />
      <TextInput
        {...form.getInputProps('quantity')}
        label="Quantity"
        withAsterisk
        autoComplete="off"
        inputMode="numeric"
      />
      <LocalTimeInput {...form.getInputProps('shipDate')} label="Ship date (optional)" ref={shipDateInput} />
    </FormDialog>
  );
}

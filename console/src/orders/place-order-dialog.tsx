import { Group, Modal, TextInput } from '@mantine/core';
import { type NewOrder, NotFoundError, type Order } from 'animal-store-client';
import { useRef } from 'react';
import { DialogForm } from '../form/dialog-form';
import { toInteger } from '../form/integer';
import { useSubmission } from '../form/use-submission';
import { useStore } from '../session/session';
import { NotOffered } from './not-offered';
import { ShipDateInput } from './ship-date-input';
import { StabilityBadge } from './stability-badge';

interface PlaceOrderDialogProps {
  opened: boolean;
  onClose: () => void;
  onPlaced: (order: Order) => unknown;
}

/** Asks for a new order and places it, if the service offers that. */
export function PlaceOrderDialog({ opened, onClose, onPlaced }: PlaceOrderDialogProps) {
  const store = useStore();
  const shipDateInput = useRef<HTMLInputElement>(null);
  const { form, submit, error, isPending, clearErrors } = useSubmission({
    initialValues: { petId: '', quantity: '1', shipDate: '' },
    // The value of a date that is not complete is empty.
    validate: () =>
      shipDateInput.current?.validity.badInput === true
        ? { shipDate: 'Complete the date and time, or clear them' }
        : {},
    send: ({ petId, quantity, shipDate }, idempotencyKey): Promise<Order> => {
      const order = {
        petId: toInteger(petId),
        quantity: toInteger(quantity),
        ...(shipDate && { shipDate: new Date(shipDate).toISOString() }),
      };
      return store.createOrder(order as unknown as NewOrder, { idempotencyKey });
    },
    onSent: onPlaced,
  });
  const title = (
    <Group gap="xs">
      Place an order <StabilityBadge stability="experimental" />
    </Group>
  );
  return (
    <Modal opened={opened} onClose={onClose} onExitTransitionEnd={clearErrors} title={title}>
      {error instanceof NotFoundError ? (
        <NotOffered onClose={onClose} />
      ) : (
        <DialogForm
          action="Place order"
          isPending={isPending}
          error={error}
          failure="The order was not placed"
          onSubmit={submit}
          onClose={onClose}
        >
          <TextInput
            key={form.key('petId')}
            {...form.getInputProps('petId')}
            label="Animal id"
            description="As the list of animals shows it"
            withAsterisk
            autoComplete="off"
            inputMode="numeric"
            data-autofocus
          />
          <TextInput
            key={form.key('quantity')}
            {...form.getInputProps('quantity')}
            label="Quantity"
            withAsterisk
            autoComplete="off"
            inputMode="numeric"
          />
          <ShipDateInput key={form.key('shipDate')} {...form.getInputProps('shipDate')} ref={shipDateInput} />
        </DialogForm>
      )}
    </Modal>
  );
}

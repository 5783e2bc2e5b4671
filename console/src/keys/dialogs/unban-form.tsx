import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Instant } from '../../format/instant';
import { useStore } from '../../session/session';
import { DialogForm } from '../../form/dialog-form';
import type { KeyFormProps } from './key-form';

/** Lifts the ban of a key's quota. */
export function UnbanForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => store.admin.keys.unban(apiKey.id),
    onSuccess: onChanged,
  });
  return (
    <DialogForm
      action="Lift ban"
      failure="The ban was not lifted"
      isPending={isPending}
      error={error}
      onSubmit={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        Without it, the ban ends on <Instant at={apiKey.bannedUntil} />. Once it is lifted, every key on the
        quota can send requests again within a second, within the limits, and the count of refusals starts at
        zero.
      </Text>
    </DialogForm>
  );
}

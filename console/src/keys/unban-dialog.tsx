import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Instant } from '../format/instant';
import { useStore } from '../session/session';
import { FormDialog } from './form-dialog';
import type { KeyDialogProps } from './key-dialog';

/** Lifts the ban of a key's quota. */
export function UnbanDialog({ apiKey, opened, onClose, onExited, onChanged }: KeyDialogProps) {
  const store = useStore();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => store.admin.keys.unban(apiKey.id),
    onSuccess: onChanged,
  });
  return (
    <FormDialog
      title="Lift the ban?"
      action="Lift ban"
      failure="The ban was not lifted"
      opened={opened}
      isPending={isPending}
      error={error}
      onSubmit={mutate}
      onClose={onClose}
      onExited={onExited}
    >
      <Text size="sm">
        Without it, the ban ends on <Instant at={apiKey.bannedUntil} />. Once it is lifted, every key on the
        quota can send requests again within a second, within the limits, and the count of refusals starts at
        zero.
      </Text>
    </FormDialog>
  );
}

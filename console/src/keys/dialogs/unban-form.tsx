import { Text } from '@mantine/core';
import { DialogForm } from '../../form/dialog-form';
import { useSubmission } from '../../form/use-submission';
import { Instant } from '../../format/instant';
import { useStore } from '../../session/session';
import type { KeyFormProps } from './key-form';
import { withQuota } from './quota-values';

/** Lifts the ban of a key's quota. */
export function UnbanForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  const submission = useSubmission({
    initialValues: {},
    send: () => store.admin.quotas.unban(apiKey.quotaId),
    onSent: (quota) => onChanged(withQuota(apiKey, quota)),
  });
  return (
    <DialogForm action="Lift ban" failure="The ban was not lifted" submission={submission} onClose={onClose}>
      <Text size="sm">
        The ban would end on <Instant at={apiKey.bannedUntil} />. Once you lift it, every key on the quota can
        send requests again within a second, within the limits, and the count of denials starts at zero.
      </Text>
    </DialogForm>
  );
}

import { Input, SegmentedControl, Text } from '@mantine/core';
import type { IssuedKey } from 'animal-store-client';
import { expiryError, ExpiryFields, toExpiry } from '../../form/expiry-fields';
import { useSubmission } from '../../form/use-submission';
import { Instant } from '../../format/instant';
import { serviceNowMs } from '../../session/service-clock';
import { useSessionHold, useStore } from '../../session/session';
import { DialogForm } from '../../form/dialog-form';
import type { KeyFormProps } from './key-form';
import { OwnKeyWarning } from './own-key-warning';

const OVERLAPS = [
  { value: '0', label: 'Now' },
  { value: '3600', label: 'In 1 hour' },
  { value: '86400', label: 'In 24 hours' },
  { value: '604800', label: 'In 7 days' },
];
const NO_RESPONSE =
  'The key may have been rotated nevertheless. Rotate it again: ' +
  'that replaces a successor that nobody has seen.';

/** Issues the successor of a key. */
export function RotateForm({ apiKey, onClose, onRotated }: KeyFormProps) {
  const store = useStore();
  const { form, ...submission } = useSubmission({
    initialValues: { overlapSeconds: '86400', expires: '', expiresAt: '' },
    validate: expiryError,
    send: (given): Promise<IssuedKey> => {
      const overlapSeconds = Number(given.overlapSeconds);
      return store.admin.keys.rotate(apiKey.id, { overlapSeconds, ...toExpiry(given) });
    },
    onSent: onRotated,
  });
  // The key may be rejected before the response with its successor arrives.
  useSessionHold(submission.isPending);
  const overlapSeconds = Number(form.values.overlapSeconds);
  return (
    <DialogForm
      action="Rotate key"
      failure="The key was not rotated"
      noResponse={NO_RESPONSE}
      submission={submission}
      onClose={onClose}
    >
      <Text size="sm">A new key with the same name, role, plan and counts is issued. It is shown once.</Text>
      {apiKey.successorId !== null && (
        <Text size="sm">It replaces the present successor, which must not have been used yet.</Text>
      )}
      <Input.Wrapper label="Old key stops working" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="Old key stops working"
          data={OVERLAPS}
          {...form.getInputProps('overlapSeconds')}
        />
      </Input.Wrapper>
      <Overlap seconds={overlapSeconds} expiresAt={apiKey.expiresAt} />
      <ExpiryFields form={form} label="New key expires" none={sameExpiry(apiKey.expiresAt)} />
      <OwnKeyWarning id={apiKey.id}>
        {overlapSeconds === 0
          ? 'You are signed out once you have copied the successor. Sign in with it then.'
          : 'You are signed out when the overlap ends. Sign in with the successor before then.'}
      </OwnKeyWarning>
    </DialogForm>
  );
}

/** Returns the label of an expiry that the new key takes from the old one. */
function sameExpiry(expiresAt: string | null): string {
  return expiresAt === null ? 'Never (same as this key)' : 'Same as this key';
}

/** Shows until when both keys work: the overlap never goes past the key's own expiry. */
function Overlap({ seconds, expiresAt }: { seconds: number; expiresAt: string | null }) {
  const overlapEndMs = serviceNowMs() + seconds * 1000;
  const expiresMs = expiresAt === null ? Infinity : Date.parse(expiresAt);
  if (seconds === 0) {
    return <Text size="sm">Requests with this key get 401 within a second.</Text>;
  }
  return (
    <Text size="sm">
      Both keys work until <Instant at={new Date(Math.min(overlapEndMs, expiresMs)).toISOString()} />
      {expiresMs < overlapEndMs ? ', when this key expires anyway.' : '. Then this key gets 401.'}
    </Text>
  );
}

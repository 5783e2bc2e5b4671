import { Button, Input, SegmentedControl, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import type { CurrentKey } from 'animal-store-client';
import { useState } from 'react';
import { ShownOnceDialog } from '../feedback/shown-once-dialog';
import { FormDialog } from '../form/form-dialog';
import { useSubmission } from '../form/use-submission';
import { MaskedKey } from '../format/masked-key';
import { focusHeading } from '../layout/page';
import { useSessionHold, useStore } from '../session/session';

const OVERLAPS = [
  { value: '3600', label: 'In 1 hour' },
  { value: '86400', label: 'In 24 hours' },
  { value: '604800', label: 'In 7 days' },
];
const NO_RESPONSE =
  'The key may have been rotated nevertheless. Rotate it again: ' +
  'that replaces a successor that nobody has seen.';

/** Rotates the signed-in key, and shows its successor once, even if the key is read again meanwhile. */
export function RotateOwnKey({ ownKey }: { ownKey: CurrentKey }) {
  const store = useStore();
  const queries = useQueryClient();
  const [isOpen, dialog] = useDisclosure(false);
  const [issued, setIssued] = useState<string | null>(null);
  const { form, ...submission } = useSubmission({
    initialValues: { overlapSeconds: '86400' },
    send: ({ overlapSeconds }) => store.key.rotate({ overlapSeconds: Number(overlapSeconds) }),
    onSent: (successor) => {
      dialog.close();
      setIssued(successor.key);
    },
  });
  // The key may be rejected before the response with its successor arrives.
  useSessionHold(submission.isPending);
  const forget = () => {
    setIssued(null);
    focusHeading();
    void queries.invalidateQueries({ queryKey: ['own-key'] });
  };
  return (
    <>
      {(ownKey.successor === null || ownKey.successor.revokedAt === null) && (
        <Button variant="default" size="sm" onClick={dialog.open}>
          {ownKey.successor === null ? 'Rotate key' : 'Rotate again'}
        </Button>
      )}
      <FormDialog
        opened={isOpen}
        title="Rotate your key?"
        action="Rotate key"
        failure="The key was not rotated"
        noResponse={NO_RESPONSE}
        submission={submission}
        onClose={dialog.close}
      >
        <Text size="sm">
          <MaskedKey apiKey={ownKey} />
        </Text>
        <Text size="sm">You get a new key on the same plan. It is shown once.</Text>
        {ownKey.successor !== null && (
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
        <Text size="sm">
          Sign in with the successor before this key ends. It can be rotated at most five times a day.
        </Text>
      </FormDialog>
      <ShownOnceDialog
        value={issued}
        what="key"
        advice={
          'It is shown only this once, because the service keeps no copy. ' +
          'Put it wherever you use this key, before this one ends.'
        }
        loss={
          'Without a copy nobody can use it. Rotate this key again before it ends, ' +
          'which replaces a key that was never used.'
        }
        onClose={forget}
      />
    </>
  );
}

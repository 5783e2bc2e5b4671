import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { CurrentKey } from 'animal-store-client';
import { useState } from 'react';
import { ShownOnceDialog } from '../feedback/shown-once-dialog';
import { FormDialog } from '../form/form-dialog';
import { useSubmission } from '../form/use-submission';
import { MaskedKey } from '../format/masked-key';
import { useSession, useSessionHold, useStore } from '../session/session';

const NO_RESPONSE =
  'The key may have been replaced nevertheless. Load the page again: ' +
  'if you are signed out, ask an administrator for another key, because nobody has seen its successor.';

/**
 * Ends the signed-in key because it leaked, shows its successor once, and signs in with that.
 *
 * @param ownKey undefined while it is banned, when the key cannot be read.
 */
export function ReplaceLeakedKey({ ownKey }: { ownKey?: CurrentKey }) {
  const store = useStore();
  const { signIn } = useSession();
  const [isOpen, dialog] = useDisclosure(false);
  const [issued, setIssued] = useState<string | null>(null);
  const submission = useSubmission({
    initialValues: {},
    send: () => store.key.rotate({ leaked: true }),
    onSent: ({ key }) => {
      dialog.close();
      setIssued(key);
    },
  });
  // The key is rejected from now on, perhaps before the response with its successor arrives.
  useSessionHold(submission.isPending);
  return (
    <>
      <Button variant="light" color="red" size="sm" onClick={dialog.open}>
        My key leaked
      </Button>
      <FormDialog
        opened={isOpen}
        title="Replace your leaked key?"
        action="Replace key"
        color="red.8"
        failure="The key was not replaced"
        noResponse={NO_RESPONSE}
        submission={submission}
        onClose={dialog.close}
      >
        {ownKey !== undefined && (
          <Text size="sm">
            <MaskedKey apiKey={ownKey} />
          </Text>
        )}
        <Text size="sm">
          Your key, its successors, and the keys that any of them issued stop working at once. Programs that
          use them get 401.
        </Text>
        <Text size="sm">You get a new key on the same plan. It is shown once, and signs you in here.</Text>
      </FormDialog>
      <ShownOnceDialog
        value={issued}
        what="key"
        advice={
          'Your old key, its successors, and the keys that any of them issued no longer work. ' +
          'This one is shown once, because the service keeps no copy. Put it wherever you used the old key.'
        }
        loss={
          'This tab stays signed in with it until you sign out. ' +
          'After that nobody can use it without a copy: ask an administrator for another key.'
        }
        onClose={() => issued !== null && signIn(issued)}
      />
    </>
  );
}

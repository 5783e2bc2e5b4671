import { ShownOnceDialog } from '../feedback/shown-once-dialog';

/** Shows the secret of a webhook, once. */
export function WebhookSecretDialog({ secret, onClose }: { secret: string | null; onClose: () => void }) {
  return (
    <ShownOnceDialog
      value={secret}
      what="secret"
      advice={
        'It is shown only this once. ' +
        'The receiver verifies with it that an event comes from this service.'
      }
      loss="Without a copy the receiver cannot verify events. Rotate the secret to get another."
      onClose={onClose}
    />
  );
}

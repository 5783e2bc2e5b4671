import type { IssuedKey } from 'animal-store-client';
import { ShownOnceDialog } from '../../feedback/shown-once-dialog';
import { warningText } from './warning-text';

interface NewKeyDialogProps {
  /** The key to show; null shows nothing. */
  issued: IssuedKey | null;
  onClose: () => void;
}

/** Shows an administrator a new key, once, and what may be wrong with it. */
export function NewKeyDialog({ issued, onClose }: NewKeyDialogProps) {
  return (
    <ShownOnceDialog
      value={issued?.key ?? null}
      what="key"
      advice={
        'It is shown only this once, because the service keeps no copy. ' +
        `Give it to its holder over a safe channel. ${warningText(issued)}`
      }
      loss="Without a copy nobody can use it. It stays valid until you revoke it."
      onClose={onClose}
    />
  );
}

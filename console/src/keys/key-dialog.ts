import type { KeyWithUsage } from 'animal-store-client';

/** What every dialog that changes a key needs. */
export interface KeyDialogProps {
  apiKey: KeyWithUsage;
  opened: boolean;
  onClose: () => void;
  /** Called once the dialog has gone. */
  onExited: () => void;
  /** Called once the key is changed. */
  onChanged: () => void;
}

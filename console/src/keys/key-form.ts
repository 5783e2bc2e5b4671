import type { IssuedKey, Key, KeyWithUsage } from 'animal-store-client';

/** What the form of every dialog that changes a key needs. It mounts when its dialog opens, so it begins with the key as it is then. */
export interface KeyFormProps {
  apiKey: KeyWithUsage;
  onClose: () => void;
  onChanged: (key: Key) => void;
  onRotated: (successor: IssuedKey) => void;
}

import type { IssuedKey, Key, KeyWithUsage } from 'animal-store-client';

/**
 * The properties of a form that changes a key. It mounts when its dialog opens, so it starts with the current
 * key.
 */
export interface KeyFormProps {
  apiKey: KeyWithUsage;
  onClose: () => void;
  onChanged: (key: Key) => void;
  onRotated: (successor: IssuedKey) => void;
}

import { Button } from '@mantine/core';
import type { IssuedKey, KeyWithUsage } from 'animal-store-client';
import { useState } from 'react';
import { useKeyRefresh } from './key-query';
import { LabelDialog } from './label-dialog';
import { NewKeyDialog } from './new-key-dialog';
import { PlanDialog } from './plan-dialog';
import { RevokeDialog } from './revoke-dialog';
import { RotateDialog } from './rotate-dialog';
import { UnbanDialog } from './unban-dialog';

type Action = 'label' | 'plan' | 'rotate' | 'unban' | 'revoke';

interface KeyActionsProps {
  apiKey: KeyWithUsage;
  /** Called with true while a new key is shown. */
  onPause: (isPaused: boolean) => void;
}

/** The buttons that change a key, each with a dialog that says what will happen. */
export function KeyActions({ apiKey, onPause }: KeyActionsProps) {
  const [action, setAction] = useState<Action | null>(null);
  const [closings, setClosings] = useState(0);
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  const refresh = useKeyRefresh(apiKey);
  const isValid = apiKey.state === 'active' || apiKey.state === 'rotating';
  const dialog = (name: Action) => ({
    // Each opening begins with the values of the key.
    key: `${name}${closings}`,
    apiKey,
    opened: action === name,
    onClose: () => setAction(null),
    onExited: () => setClosings(closings + 1),
    onChanged: () => {
      setAction(null);
      void refresh();
    },
  });
  const button = (name: Action) => ({ size: 'sm', variant: 'default', onClick: () => setAction(name) });
  const showSuccessor = (successor: IssuedKey) => {
    setAction(null);
    onPause(true);
    setIssued(successor);
  };
  const forgetSuccessor = () => {
    setIssued(null);
    onPause(false);
    void refresh();
  };
  return (
    <>
      <Button {...button('label')}>Rename</Button>
      <Button {...button('plan')}>Change plan</Button>
      {apiKey.bannedUntil !== null && <Button {...button('unban')}>Lift ban</Button>}
      {apiKey.state === 'active' && <Button {...button('rotate')}>Rotate</Button>}
      {isValid && (
        <Button {...button('revoke')} variant="light" color="red">
          Revoke
        </Button>
      )}
      <LabelDialog {...dialog('label')} />
      <PlanDialog {...dialog('plan')} />
      <UnbanDialog {...dialog('unban')} />
      <RotateDialog {...dialog('rotate')} onRotated={showSuccessor} />
      <RevokeDialog {...dialog('revoke')} />
      <NewKeyDialog issued={issued} onClose={forgetSuccessor} />
    </>
  );
}

import { Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { IssuedKey, Key, KeyWithUsage } from 'animal-store-client';
import { useState } from 'react';
import { ScopedButton } from '../form/scoped-button';
import { focusHeading } from '../layout/page';
import { useKeyRefresh } from './key-query';
import { KeyName } from './key-name';
import { isLive, isValid } from './key-state';
import { LabelForm } from './dialogs/label-form';
import { NewKeyDialog } from './dialogs/new-key-dialog';
import { PlanForm } from './dialogs/plan-form';
import { ResumeForm } from './dialogs/resume-form';
import { RestrictForm } from './dialogs/restrict-form';
import { RevokeForm } from './dialogs/revoke-form';
import { RotateForm } from './dialogs/rotate-form';
import { SuspendForm } from './dialogs/suspend-form';
import { UnbanForm } from './dialogs/unban-form';

const DIALOGS = {
  label: { title: 'Rename key', Form: LabelForm },
  plan: { title: 'Change plan, limits or external ID', Form: PlanForm },
  restrict: { title: 'Restrict this key', Form: RestrictForm },
  rotate: { title: 'Rotate this key?', Form: RotateForm },
  suspend: { title: 'Suspend this key?', Form: SuspendForm },
  resume: { title: 'Resume this key?', Form: ResumeForm },
  unban: { title: 'Lift the ban?', Form: UnbanForm },
  revoke: { title: 'Revoke this key?', Form: RevokeForm },
};
type Action = keyof typeof DIALOGS;
/** These remove their own button, which has the focus. */
const DONE_ONCE: ReadonlySet<Action> = new Set(['suspend', 'resume', 'unban', 'revoke']);

/** The buttons that change a key, each with a dialog that explains what will happen. */
export function KeyActions({ apiKey }: { apiKey: KeyWithUsage }) {
  // The last action stays while its dialog fades.
  const [{ action, opening }, setOpened] = useState({ action: 'label' as Action, opening: 0 });
  const [isOpen, dialog] = useDisclosure(false);
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  const refresh = useKeyRefresh();
  const { title, Form } = DIALOGS[action];
  const button = (name: Action) => ({
    scope: 'admin:write' as const,
    size: 'sm',
    variant: 'default',
    onClick: () => {
      setOpened({ action: name, opening: opening + 1 });
      dialog.open();
    },
  });
  const showChanged = (changed: Key) => {
    if (DONE_ONCE.has(action)) {
      focusHeading();
    }
    dialog.close();
    refresh(changed);
  };
  const showSuccessor = (successor: IssuedKey) => {
    dialog.close();
    setIssued(successor);
  };
  const forgetSuccessor = () => {
    setIssued(null);
    focusHeading();
    refresh();
  };
  return (
    <>
      <ScopedButton {...button('label')}>Rename</ScopedButton>
      {isLive(apiKey) && <ScopedButton {...button('plan')}>Change plan</ScopedButton>}
      {isLive(apiKey) && <ScopedButton {...button('restrict')}>Restrict</ScopedButton>}
      {apiKey.bannedUntil !== null && <ScopedButton {...button('unban')}>Lift ban</ScopedButton>}
      {isLive(apiKey) && (
        <ScopedButton {...button('rotate')}>
          {apiKey.successorId === null ? 'Rotate' : 'Rotate again'}
        </ScopedButton>
      )}
      {isValid(apiKey) && <ScopedButton {...button('suspend')}>Suspend</ScopedButton>}
      {apiKey.state === 'suspended' && <ScopedButton {...button('resume')}>Resume</ScopedButton>}
      {isLive(apiKey) && (
        <ScopedButton {...button('revoke')} variant="light" color="red">
          Revoke
        </ScopedButton>
      )}
      <Modal opened={isOpen} onClose={dialog.close} title={title}>
        <Text size="sm" mb="md">
          <KeyName apiKey={apiKey} />
        </Text>
        <Form
          key={opening}
          apiKey={apiKey}
          onClose={dialog.close}
          onChanged={showChanged}
          onRotated={showSuccessor}
        />
      </Modal>
      <NewKeyDialog issued={issued} onClose={forgetSuccessor} />
    </>
  );
}

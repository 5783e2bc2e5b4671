import { Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { IssuedKey, KeyWithUsage } from 'animal-store-client';
import { useRef, useState } from 'react';
import { ScopedButton } from '../form/scoped-button';
import { IssueForm } from './dialogs/issue-form';
import { NewKeyDialog } from './dialogs/new-key-dialog';
import { useKeyRefresh } from './key-query';

/** The button that issues another key on the quota of a key, with its dialogs. */
export function IssueOnQuota({ apiKey }: { apiKey: KeyWithUsage }) {
  const [isOpen, dialog] = useDisclosure(false);
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const refresh = useKeyRefresh();
  const showIssued = (key: IssuedKey) => {
    dialog.close();
    setIssued(key);
  };
  const forgetIssued = () => {
    setIssued(null);
    opener.current?.focus();
    refresh();
  };
  return (
    <>
      <ScopedButton scope="admin:write" ref={opener} variant="default" size="xs" onClick={dialog.open}>
        Issue another key
      </ScopedButton>
      <Modal opened={isOpen} onClose={dialog.close} title="Issue another key on this quota">
        <IssueForm sibling={apiKey} onClose={dialog.close} onIssued={showIssued} />
      </Modal>
      <NewKeyDialog issued={issued} onClose={forgetIssued} />
    </>
  );
}

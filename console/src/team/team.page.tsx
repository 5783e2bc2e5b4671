import { Button, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import type { CurrentKey, FurtherKey, ResultPage } from 'animal-store-client';
import { useMemo, useRef, useState } from 'react';
import { EmptyState } from '../feedback/empty-state';
import { ShownOnceDialog } from '../feedback/shown-once-dialog';
import { RevokeKeyForm } from '../keys/dialogs/revoke-key-form';
import { KeyName } from '../keys/key-name';
import { isLive, VALID_KEYS_MAX, validFirst } from '../keys/key-state';
import { ForKeys } from '../layout/for-keys';
import { focusHeading, Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { StabilityBadge } from '../format/stability-badge';
import { useStore } from '../session/session';
import { DataTable } from '../table/data-table';
import { useCursorPages } from '../table/use-cursor-pages';
import { IssueFurtherKeyForm } from './issue-further-key-form';
import { teamColumns } from './team-columns';
import { issuableScopes, managesKeys } from './team-permission';

const QUERY_KEY = ['team-keys'];

/** The keys that holders issued on the quota of the signed-in key, which its holder issues and revokes. */
export function TeamPage() {
  return (
    <ForKeys title="Team keys" isFor={managesKeys}>
      {(ownKey) => <TeamKeys ownKey={ownKey} />}
    </ForKeys>
  );
}

function TeamKeys({ ownKey }: { ownKey: CurrentKey }) {
  const store = useStore();
  const queries = useQueryClient();
  const [isIssuing, issuing] = useDisclosure(false);
  const [isRevoking, { open: openRevoking, close: closeRevoking }] = useDisclosure(false);
  const [issued, setIssued] = useState<string | null>(null);
  // The last key stays while its dialog fades.
  const [revoked, setRevoked] = useState<FurtherKey | null>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const pages = useCursorPages<FurtherKey>({
    queryKey: QUERY_KEY,
    // All of them, because the service does not sort those that are valid first.
    load: async (_cursor, signal) => {
      const keys: FurtherKey[] = [];
      for await (const key of store.keys.list({}, { signal })) {
        keys.push(key);
      }
      return { items: validFirst(keys), nextCursor: null };
    },
  });
  // Other columns would mount the buttons again, so that the focus could not return to one.
  const columns = useMemo(
    () =>
      teamColumns(ownKey.id, (key) => {
        setRevoked(key);
        openRevoking();
      }),
    [ownKey.id, openRevoking],
  );
  // Shows the change at once, so that the focus does not return to the button of a revoked key.
  const showRevoked = (changed: FurtherKey) =>
    queries.setQueriesData<ResultPage<FurtherKey>>({ queryKey: QUERY_KEY }, (page) => {
      const items = page?.items.map((key) => (key.id === changed.id ? changed : key));
      return page && items && { ...page, items: validFirst(items) };
    });
  const refresh = () => void queries.invalidateQueries({ queryKey: QUERY_KEY });
  const valid = pages.items.filter((key) => isLive(key) && key.id !== ownKey.id).length;
  return (
    <Page
      title="Team keys"
      badge={<StabilityBadge stability="beta" />}
      description="Keys that share the plan and the limits of your key"
      actions={
        issuableScopes(ownKey).length > 0 && (
          <Button ref={opener} leftSection={<IconPlus size={16} aria-hidden />} onClick={issuing.open}>
            Issue a key
          </Button>
        )
      }
    >
      <Panel>
        <Stack gap="md">
          {pages.query.isSuccess && (
            <Text size="sm" c="dimmed">
              At least {valid + 1} of {VALID_KEYS_MAX} keys are in use: yours and {valid} that a holder
              issued. Keys that an administrator issued on the quota count too, but are not listed.
            </Text>
          )}
          <DataTable label="Team keys" columns={columns} pages={pages} minWidth={900} empty={<NoKeys />} />
        </Stack>
      </Panel>
      <Modal opened={isIssuing} onClose={issuing.close} title="Issue a key">
        <IssueFurtherKeyForm
          ownKey={ownKey}
          onClose={issuing.close}
          onIssued={({ key }) => {
            issuing.close();
            setIssued(key);
          }}
        />
      </Modal>
      <Modal opened={isRevoking} onClose={closeRevoking} title="Revoke this key?">
        {revoked !== null && (
          <>
            <Text size="sm" mb="md">
              <KeyName apiKey={revoked} />
            </Text>
            <RevokeKeyForm
              lastUsedAt={revoked.lastUsedAt}
              revoke={() => store.keys.revoke(revoked.id)}
              onClose={closeRevoking}
              onRevoked={(changed) => {
                showRevoked(changed);
                focusHeading();
                closeRevoking();
              }}
            />
          </>
        )}
      </Modal>
      <ShownOnceDialog
        value={issued}
        what="key"
        advice={
          'It is shown once, because the service keeps no copy. ' +
          'Give it to its holder over a safe channel.'
        }
        loss="Without a copy nobody can use it. It stays valid until you revoke it."
        onClose={() => {
          setIssued(null);
          opener.current?.focus();
          refresh();
        }}
      />
    </Page>
  );
}

function NoKeys() {
  return (
    <EmptyState icon={IconKey} title="No keys yet">
      Issue a key for each program and person of your team. You can revoke each alone.
    </EmptyState>
  );
}

import { Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { IssuedKey, KeyWithUsage } from 'animal-store-client';
import { useRef, useState } from 'react';
import { EmptyState } from '../feedback/empty-state';
import { ScopedButton } from '../form/scoped-button';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { TextLink } from '../layout/text-link';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';
import { DataTable } from '../table/data-table';
import { useAddressPosition } from '../table/use-address-position';
import { useCursorPages } from '../table/use-cursor-pages';
import { IssueForm } from './dialogs/issue-form';
import { KEY_COLUMNS } from './key-columns';
import { KeyFilters } from './key-filters';
import { useKeyRefresh } from './key-query';
import { type InTree, toFlat, toTree } from './key-tree';
import { isFiltered, PAGE_SIZES, toFirstPage, toKeyQuery } from './keys-search';
import { LeakedKeyDialog } from './dialogs/leaked-key-dialog';
import { NewKeyDialog } from './dialogs/new-key-dialog';
import { WithPlans } from './with-plans';

const route = getRouteApi('/admin/keys');

/**
 * Lists the keys of all clients, finds one, and issues one. The address contains the filters, the
 * order, the length of pages and the page.
 */
export function KeysPage() {
  const store = useStore();
  const refresh = useKeyRefresh();
  const search = route.useSearch();
  const { cursor: _cursor, page: _page, ...list } = search;
  const [isIssuing, issuing] = useDisclosure(false);
  const [isRevoking, revoking] = useDisclosure(false);
  const navigate = route.useNavigate();
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const pages = useCursorPages<InTree<KeyWithUsage>>({
    queryKey: ['keys', 'list', list],
    load: async (cursor, signal) => {
      const query = { ...toKeyQuery(list, serviceNowMs()), ...(cursor && { cursor }) };
      const page = await store.admin.keys.list(query, { signal });
      // An order that the reader chose stays.
      const toRows = list.sort === undefined ? toTree : toFlat;
      return { ...page, items: toRows(page.items) };
    },
    position: useAddressPosition(search),
  });
  const showIssued = (key: IssuedKey) => {
    issuing.close();
    setIssued(key);
  };
  const forgetIssued = () => {
    setIssued(null);
    opener.current?.focus();
    refresh();
  };
  const issueButton = (
    <ScopedButton
      scope="admin:write"
      ref={opener}
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={issuing.open}
    >
      Issue key
    </ScopedButton>
  );
  return (
    <Page
      title="Keys"
      description="Every key of the store, who has it and how it is used"
      actions={
        <>
          <ScopedButton scope="admin:write" variant="default" onClick={revoking.open}>
            Revoke a leaked key
          </ScopedButton>
          {issueButton}
        </>
      }
    >
      <Panel>
        <Stack gap="md">
          <KeyFilters />
          <DataTable
            label="Keys"
            columns={KEY_COLUMNS}
            pages={pages}
            minWidth={880}
            pageSize={{
              value: Number(search.limit ?? PAGE_SIZES[0]),
              choices: PAGE_SIZES,
              onChange: (limit) => void navigate({ search: toFirstPage({ limit }), resetScroll: false }),
            }}
            empty={<NoKeys filtered={isFiltered(search)} />}
          />
        </Stack>
      </Panel>
      <Modal opened={isIssuing} onClose={issuing.close} title="Issue key">
        <WithPlans>
          {(plans) => <IssueForm plans={plans} onClose={issuing.close} onIssued={showIssued} />}
        </WithPlans>
      </Modal>
      <LeakedKeyDialog
        opened={isRevoking}
        onClose={revoking.close}
        onRevoked={(key) => {
          refresh(key);
          void navigate({ to: '/admin/keys/$id', params: { id: key.id } });
        }}
      />
      <NewKeyDialog issued={issued} onClose={forgetIssued} />
    </Page>
  );
}

function NoKeys({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <EmptyState
      icon={IconKey}
      title="No key matches"
      action={
        <TextLink to="/admin/keys" size="sm">
          Show all keys
        </TextLink>
      }
    >
      A search matches any part of the name, the note or the external ID, or the end of the ID or the key.
    </EmptyState>
  ) : (
    <EmptyState icon={IconKey} title="No keys yet">
      A client needs a key for each request. Issue the first one.
    </EmptyState>
  );
}

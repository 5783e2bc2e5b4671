import { IconLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../feedback/empty-state';
import type { Scope } from '../keys/scopes';
import { useMissingScope } from '../session/missing-scope';
import { Page } from './page';
import { Panel } from './panel';

interface ForScopeProps {
  /** The scope that the requests of the page need. */
  scope: Scope;
  /** The title of the page without them. */
  title: string;
  children: ReactNode;
}

/** A page that says why it is empty if the signed-in key lacks its scope. The service checks it again. */
export function ForScope({ scope, title, children }: ForScopeProps) {
  const reason = useMissingScope(scope);
  return reason === null ? (
    children
  ) : (
    <Page title={title}>
      <Panel>
        <EmptyState icon={IconLock} title="Not allowed with this key">
          {reason}
        </EmptyState>
      </Panel>
    </Page>
  );
}

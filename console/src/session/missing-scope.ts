import { hasScope, type Scope, scopeText } from '../keys/scopes';
import { useOwnKey } from './own-key';

/** Returns why the signed-in key may not do what needs a scope; null if it may, or is not loaded. */
export function useMissingScope(scope: Scope): string | null {
  const { data: key } = useOwnKey();
  return key === undefined || hasScope(key, scope)
    ? null
    : `Your key may not ${scopeText(scope)}: it lacks the scope ${scope}, which an administrator can add.`;
}

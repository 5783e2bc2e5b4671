import { hasScope } from '../keys/scopes';
import { useOwnKey } from '../session/own-key';

/** Returns the page of a failed request: that of administrators, or of the reader's quota alone. */
export function useRequestPath(): '/admin/requests/show' | '/requests/show' {
  const { data: key } = useOwnKey();
  return key?.role === 'admin' && hasScope(key, 'admin:read') ? '/admin/requests/show' : '/requests/show';
}

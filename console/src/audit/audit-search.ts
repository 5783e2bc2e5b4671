import { keyId, localTime, oneOf, searchReader, textUpTo } from '../address/search-reader';
import { ACTIONS } from '../audit-event/audit-texts';

/** The filters of the page. */
export const auditSearch = searchReader({
  actor: textUpTo(255),
  action: oneOf(Object.keys(ACTIONS)),
  key: keyId,
  since: localTime,
  until: localTime,
});
export type AuditSearch = ReturnType<typeof auditSearch>;

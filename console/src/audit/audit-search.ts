import { localTime, oneOf, searchReader, textUpTo, uuid } from '../address/search-reader';
import { ACTIONS } from '../audit-event/audit-texts';
import { withPage } from '../table/use-address-position';

export const readFilters = searchReader({
  /** The id of a key, else the name of a person at the terminal. */
  actor: textUpTo(255),
  action: oneOf(Object.keys(ACTIONS)),
  keyId: uuid,
  quotaId: uuid,
  since: localTime,
  until: localTime,
});

/** The filters of the page, and which page of the list it shows. */
export const auditSearch = withPage(readFilters);
/** The filters of the page. */
export type AuditSearch = ReturnType<typeof readFilters>;

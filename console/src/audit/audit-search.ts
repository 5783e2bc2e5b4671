const FILTERS = ['actor', 'action', 'key', 'since', 'until'] as const;

/** The filters of the page, as in its address; times as `YYYY-MM-DDTHH:MM` in the reader's zone. */
export type AuditSearch = Partial<Record<(typeof FILTERS)[number], string>>;

/** Returns what the page takes from its address. */
export function auditSearch(search: Record<string, unknown>): AuditSearch {
  return Object.fromEntries(
    FILTERS.map((name) => [name, search[name]] as const).filter(
      ([, value]) => typeof value === 'string' && value !== '',
    ),
  );
}

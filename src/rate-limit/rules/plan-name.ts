export const PLAN_NAME_MAX_LENGTH = 63;
const NAME = /^[a-z][a-z0-9-]{0,62}$/;

/**
 * Returns whether a plan can have this name. Checked before a query, because PostgreSQL rejects some texts,
 * such as one with NUL.
 */
export function isPlanName(name: string): boolean {
  return NAME.test(name);
}

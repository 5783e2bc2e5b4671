export const PLAN_NAME_MAX_LENGTH = 63;
const NAME = /^[a-z][a-z0-9-]{0,62}$/;

/** Whether a plan can have this name. PostgreSQL cannot even be asked for some of those that none can have. */
export function isPlanName(name: string): boolean {
  return NAME.test(name);
}

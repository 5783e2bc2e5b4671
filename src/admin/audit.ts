import type { Prisma } from '../database/generated/client.js';

/** Who acts: the id of an administrator's key; `terminal:NAME` for a person at the terminal; or `terminal`, the service itself. */
export type Actor = string;
export const TERMINAL: Actor = 'terminal';

/** Returns the actor of a person at the terminal. */
export function terminalActor(name: string): Actor {
  return `${TERMINAL}:${name}`;
}

/** What can be done, and is written down. */
export type Action =
  | 'key.issued'
  | 'key.rotated'
  | 'key.revoked'
  | 'key.expiry_changed'
  | 'key.plan_changed'
  | 'key.unbanned'
  | 'plan.created'
  | 'plan.changed';

/** What was done, by whom and on what. Facts hold neither keys nor hashes. */
export interface Deed {
  actor: Actor;
  action: Action;
  /** `key:ID` or `plan:NAME`. */
  subject: string;
  before: Prisma.InputJsonObject | null;
  after: Prisma.InputJsonObject;
}

/** Writes a deed down, in the transaction that does it: one is not without the other. */
export async function writeDown(
  transaction: Prisma.TransactionClient,
  { before, ...deed }: Deed,
): Promise<void> {
  await transaction.auditEntry.create({ data: { ...deed, ...(before !== null && { before }) } });
}

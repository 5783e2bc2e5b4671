import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { type Actor, terminalActor } from '../admin/audit/audit.js';
import { nameArgument } from './arguments.js';

/** The options of a command that is recorded in the audit trail. */
export interface ActorOptions {
  as?: string | undefined;
}

/** Adds the option `--as` to a command that changes something. */
export function withActor(command: Command): Command {
  return command.option(
    '--as <name>',
    'who acts, for the audit (default: the name of your user on this system)',
    nameArgument,
  );
}

export function toActor({ as }: ActorOptions): Actor {
  return terminalActor(as ?? systemUser());
}

/** Returns the user's name; a user without a name, as in a container, has the number only. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

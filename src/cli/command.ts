import { userInfo } from 'node:os';
import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import { type Actor, terminalActor } from '../audit/audit.js';
import { keyName } from '../keys/key.schemas.js';
import { parsedBy } from './arguments.js';
import { reportFailure } from './failure.js';
import { escapeControls } from './output/escape-controls.js';
import type { Output } from './output/text.js';
import { databaseEnvironment, openServices } from './services.js';

/** The options of a command that changes something. */
export interface ChangeOptions {
  as: Actor;
  /** Do not ask for confirmation. */
  yes?: true;
}

/** Returns a command that only has other commands. */
export function group(name: string, description: string, commands: Command[]): Command {
  return commands.reduce(
    (parent, each) => parent.addCommand(each),
    new Command(name).description(description),
  );
}

/** Returns a command whose output is for people, or for programs. */
export function command(name: string, description: string): Command {
  return new Command(name).description(description).option('--json', 'print JSON, for a program');
}

/** Returns a command that changes something, which the audit records. */
export function changeCommand(name: string, description: string): Command {
  return command(name, description).addOption(
    new Option('--as <name>', 'who acts, for the audit')
      .argParser((text) => terminalActor(parsedBy(keyName)(text)))
      .default(terminalActor(systemUser()), 'the name of your user on this system'),
  );
}

/** Returns the user's name; a user without a name, as in a container, has the number only. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

/** Returns a hook that rejects a command without any of the options with these names. */
export function requireOption(flags: string, ...names: string[]) {
  return (given: Command) => {
    if (names.every((name) => given.opts()[name] === undefined)) {
      given.error(`error: give ${flags}`);
    }
  };
}

/**
 * Returns the action of a command: `work` runs with the services of administration, and its output is
 * printed. A failure is reported on standard error, with exit code 1.
 */
export function withServices<Arguments extends unknown[]>(
  work: (services: INestApplicationContext, ...args: Arguments) => Promise<Output>,
) {
  return function action(this: Command, ...args: Arguments): Promise<void> {
    return reportFailure(async () => {
      const services = await openServices(await databaseEnvironment());
      try {
        const { value, text } = await work(services, ...args);
        const { json } = this.opts<{ json?: true }>();
        process.stdout.write(json ? `${escapeControls(JSON.stringify(value))}\n` : await text());
      } finally {
        await services.close();
      }
    });
  };
}

import { userInfo } from 'node:os';
import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import { type Actor, terminalActor } from '../audit/audit.js';
import { keyName } from '../keys/key.schemas.js';
import { parsedBy } from './arguments.js';
import { reportFailure } from './failure.js';
import { clipValues, escapeControls, escapeLines, linesText, type Output } from './output/text.js';
import { databaseEnvironment, openServices } from './services.js';

const HELP = new Set(['-h', '--help']);
const ALTERNATIVES = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** The options of a command that changes something. */
export interface ChangeOptions {
  as: Actor;
  yes?: true;
}

/** A command or a group of commands. Wrong usage throws, after a message in which arguments are escaped. */
export class TerminalCommand extends Command {
  /** Commander's own fault, with the option that the flag resembles. Its types do not have it. */
  declare private readonly unknownOption: (flag: string) => never;

  constructor(name: string, description: string) {
    super(name);
    this.description(description)
      .exitOverride()
      .configureOutput({ outputError: (text, write) => write(escapeLines(clipValues(text))) });
  }

  /** Reports an unknown option first, which may be a required one that is misspelt. */
  override parseOptions(args: string[]) {
    const parsed = super.parseOptions(args);
    const [unknown] = parsed.unknown;
    const lacksOption = this.options.some(
      (option) => option.mandatory && this.getOptionValue(option.attributeName()) === undefined,
    );
    if (lacksOption && unknown !== undefined && !parsed.unknown.some((text) => HELP.has(text))) {
      this.unknownOption(unknown);
    }
    return parsed;
  }

  /** Rejects the command with this fault if its options and arguments do not fit together. */
  rejectIf(isWrong: (options: never, args: string[]) => boolean, fault: string): this {
    return this.hook('preAction', () => {
      if (isWrong(this.opts(), this.args)) {
        this.error(`error: ${fault}`);
      }
    });
  }

  requireOneOf(...flags: string[]): this {
    const names = flags.map((flag) => new Option(flag).attributeName());
    const isNoneGiven = () => names.every((name) => this.getOptionValueSource(name) !== 'cli');
    return this.rejectIf(isNoneGiven, `give ${ALTERNATIVES.format(flags)}`);
  }

  /** Makes the command run `work` and print its output. A failure is reported, with exit code 1. */
  run(work: (services: INestApplicationContext, ...args: never[]) => Promise<Output>): this {
    return this.action((...args: unknown[]) =>
      reportFailure(async () => {
        const services = await openServices(await databaseEnvironment());
        try {
          const { value, text, warnings = [] } = await work(services, ...(args as never[]));
          const { json } = this.opts<{ json?: true }>();
          process.stdout.write(json ? `${escapeControls(JSON.stringify(value))}\n` : await text());
          if (!json) {
            process.stderr.write(linesText(...warnings.map(({ message }) => `Warning: ${message}`)));
          }
        } finally {
          await services.close();
        }
      }),
    );
  }
}

export function group(name: string, description: string, commands: Command[]): TerminalCommand {
  const parent = new TerminalCommand(name, description);
  commands.forEach((each) => parent.addCommand(each));
  return parent;
}

/** Returns a command whose output is for people, or for programs. */
export function command(name: string, description: string): TerminalCommand {
  return new TerminalCommand(name, description).option('--json', 'print JSON, for a program');
}

/** Returns a command that changes something, which the audit records. */
export function changeCommand(name: string, description: string): TerminalCommand {
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

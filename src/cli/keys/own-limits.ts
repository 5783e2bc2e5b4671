import type { Command } from 'commander';
import { EXIT_USAGE, positiveInteger } from '../arguments.js';

/** A quota's own numbers in place of its plan's. */
export interface OwnLimits {
  perMinute?: number;
  perDay?: number;
}

/** Adds the options `--per-minute` and `--per-day`. */
export function withOwnLimits(command: Command): Command {
  return command
    .option(
      '--per-minute <n>',
      "own limit per minute in place of the plan's, with --per-day",
      positiveInteger,
    )
    .option('--per-day <n>', "own limit per day in place of the plan's, with --per-minute", positiveInteger);
}

/** Ends the command as wrong usage where one number is given without the other. */
export function requireBothOrNone({ perMinute, perDay }: OwnLimits, command: Command): void {
  if ((perMinute === undefined) !== (perDay === undefined)) {
    command.error('error: --per-minute and --per-day go together', { exitCode: EXIT_USAGE });
  }
}

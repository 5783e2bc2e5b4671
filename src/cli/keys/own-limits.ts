import type { Command } from 'commander';
import { EXIT_USAGE, positiveInteger } from '../arguments.js';

/** A quota's own limits, which override its plan's. */
export interface OwnLimits {
  perMinute?: number;
  perDay?: number;
}

/** Adds the options `--per-minute` and `--per-day`. */
export function withOwnLimits(command: Command): Command {
  return command
    .option('--per-minute <n>', "own limit per minute instead of the plan's, with --per-day", positiveInteger)
    .option('--per-day <n>', "own limit per day instead of the plan's, with --per-minute", positiveInteger);
}

/** Ends the command as wrong usage if one limit is given without the other. */
export function requireBothOrNone({ perMinute, perDay }: OwnLimits, command: Command): void {
  if ((perMinute === undefined) !== (perDay === undefined)) {
    command.error('error: --per-minute and --per-day go together', { exitCode: EXIT_USAGE });
  }
}

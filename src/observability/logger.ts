import type { LoggerService } from '@nestjs/common';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { standardOutput } from '../process/standard-stream.js';
import type { Environment } from '../process/settings/environment.js';

/** What PostgreSQL adds to the error of a constraint: the values of the row, such as secrets of webhooks. */
export const REDACT = {
  paths: ['err.detail', 'err.cause.detail', 'err.meta.driverAdapterError.cause.detail'],
  remove: true,
};

/**
 * Characters that JSON does not escape, but that a terminal obeys, or that change the order in which it shows
 * a text: C1 controls, line ends, directions.
 */
const OBEYED = /[\u0080-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Logs one JSON object a line to standard output; on a terminal, if `pino-pretty` is installed, a readable
 * line. Dropped lines are reported once lines can be written again.
 */
export async function createLogger(environment: Environment): Promise<Logger> {
  const isForEyes = process.stdout.isTTY && environment.NODE_ENV !== 'production';
  const format = isForEyes ? await loadTerminalFormat() : null;
  const logger = pino(
    {
      level: environment.LOG_LEVEL,
      base: null,
      formatters: { level: (level: string) => ({ level }) },
      timestamp: stdTimeFunctions.isoTime,
      redact: REDACT,
      hooks: { streamWrite: (line) => showable(format?.(line) ?? line) },
    },
    standardOutput,
  );
  standardOutput.onRecovery = (dropped) => {
    logger.warn({ droppedLines: dropped }, 'Lines of the log were dropped, because it could not be written');
  };
  return logger;
}

/** Returns `terminalLine`, or null without `pino-pretty`. A transport of pino would make the service wait. */
async function loadTerminalFormat(): Promise<((line: string) => string) | null> {
  try {
    const { terminalLine } = await import('./terminal-lines.js');
    return terminalLine;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') {
      return null;
    }
    throw error;
  }
}

/** Returns the same JSON, with escapes for characters that a terminal would interpret. */
function showable(line: string): string {
  // Nearly all are ASCII, which their length shows at a tenth of the cost.
  return Buffer.byteLength(line) === line.length
    ? line
    : line.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The part of NestJS that listens, and throws what it logs. */
const LISTENER = 'NestApplication';

/**
 * Writes NestJS's own lines to the same log. Those about its start are `debug`, because only its developers
 * need them.
 */
export function nestLogger(logger: Logger): LoggerService {
  const write =
    (given: 'debug' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...rest: unknown[]) => {
      const context = rest.at(-1);
      const level = context === LISTENER ? 'debug' : given;
      if (message instanceof Error) {
        logger[level]({ err: message, context }, message.message);
      } else {
        // NestJS passes a stack that may not be there.
        const detail = rest.slice(0, -1).filter((part) => part !== undefined);
        logger[level]({ context, ...(detail.length > 0 && { detail }) }, String(message));
      }
    };
  return {
    log: write('debug'),
    debug: write('debug'),
    verbose: write('debug'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
  };
}

import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import type { Environment } from './environment.js';

/** One JSON object a line; readable lines on a terminal, where `pino-pretty` is installed. */
export function createLogger(environment: Environment): Logger {
  return pino({
    level: environment.LOG_LEVEL,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    ...(process.stdout.isTTY &&
      environment.NODE_ENV !== 'production' && {
        transport: {
          target: 'pino-pretty',
          options: { translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname' },
        },
      }),
  });
}

/** NestJS's own lines, in the same log. What it says of its start is of use to its developers alone. */
export function nestLogger(logger: Logger): LoggerService {
  const write =
    (level: 'debug' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...rest: unknown[]) => {
      const context = rest.at(-1);
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

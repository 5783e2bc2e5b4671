import type { LoggerService } from '@nestjs/common';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import type { Environment } from '../settings/environment.js';

/** Lines are gathered until they are this many bytes, or this old: a write for each would be a good part of a request's cost. */
const GATHERED_BYTES = 4096;
const GATHERED_MS = 100;

/** Options of `pino-pretty`: one line for each request, for a person. A condition drops its text if there is no such field. */
export const TERMINAL_FORMAT = {
  translateTime: 'SYS:HH:MM:ss.l',
  singleLine: true,
  messageFormat:
    '{msg} {if method}{method} {path} {status} in {ms} ms{end} {if decision}{decision}{end} ' +
    '{if limit}{remaining} of {limit} a {window} left{end} {if plan}plan {plan}{end} {if keyId}key {keyId}{end}',
  // The message has the first ten already.
  ignore:
    'method,path,status,ms,decision,window,limit,remaining,plan,keyId,' +
    'requestId,operation,quotaId,address,userAgent,trace_id,span_id',
};

/** What JSON leaves as it is, though a terminal obeys it or shows by it a text in another order: C1 controls, line ends, directions. */
const OBEYED = /[\u0080-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const standardOutput = pino.destination({
  dest: process.stdout.fd,
  sync: true,
  minLength: GATHERED_BYTES,
  periodicFlush: GATHERED_MS,
});
process.once('exit', () => standardOutput.flushSync());

/** Logs one JSON object a line; on a terminal, if `pino-pretty` is installed, a readable line. */
export function createLogger(environment: Environment): Logger {
  const options = {
    level: environment.LOG_LEVEL,
    base: null,
    formatters: { level: (level: string) => ({ level }) },
    timestamp: stdTimeFunctions.isoTime,
    hooks: { streamWrite: showable },
  };
  const isForEyes = process.stdout.isTTY && environment.NODE_ENV !== 'production';
  return isForEyes
    ? pino({ ...options, transport: { target: 'pino-pretty', options: TERMINAL_FORMAT } })
    : pino(options, standardOutput);
}

/** Returns the same JSON, with escapes for characters that a terminal would interpret. */
function showable(line: string): string {
  // Nearly all are ASCII, which their length shows at a tenth of the cost.
  return Buffer.byteLength(line) === line.length
    ? line
    : line.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Writes NestJS's own lines to the same log. Those about its start are `debug`, because only its developers need them. */
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

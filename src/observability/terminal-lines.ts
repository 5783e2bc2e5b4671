import { isColorSupported, prettyFactory } from 'pino-pretty';

/** Options of `pino-pretty`: one line for a request. A condition drops its text if there is no such field. */
export const TERMINAL_FORMAT = {
  translateTime: 'SYS:HH:MM:ss.l',
  singleLine: true,
  messageFormat:
    '{msg} {if method}{method} {path} {status} in {durationMs} ms{end} {if decision}{decision}{end} ' +
    '{if limit}{remaining} of {limit} a {window} left{end} {if plan}plan {plan}{end} {if keyId}key ' +
    '{keyId}{end}',
  // The message shows the first ten of them.
  ignore:
    'method,path,status,durationMs,decision,window,limit,remaining,plan,keyId,' +
    'requestId,operation,quotaId,clientAddress,userAgent,trace_id,span_id',
};

/** Returns a line of the log as a person reads it. */
export const terminalLine: (line: string) => string = prettyFactory({
  ...TERMINAL_FORMAT,
  colorize: isColorSupported,
});

/** Fields of a request that its message has already, and those that are left to the JSON. */
const IN_MESSAGE = [
  'method',
  'path',
  'status',
  'ms',
  'decision',
  'window',
  'limit',
  'remaining',
  'plan',
  'keyId',
];
const LEFT_OUT = ['requestId', 'operation', 'quotaId', 'address', 'userAgent', 'trace_id', 'span_id'];

/** Options of `pino-pretty`: one line for each request, for a person. A condition drops its text where there is no such field. */
export const TERMINAL_FORMAT = {
  translateTime: 'SYS:HH:MM:ss.l',
  singleLine: true,
  ignore: [...IN_MESSAGE, ...LEFT_OUT].join(','),
  messageFormat:
    '{msg} {if method}{method} {path} {status} in {ms} ms{end} {if decision}{decision}{end} ' +
    '{if limit}{remaining} of {limit} a {window} left{end} {if plan}plan {plan}{end} {if keyId}key {keyId}{end}',
};

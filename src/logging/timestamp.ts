let formattedMs = Number.NaN;
let field = '';

/** Returns the field `time` of a log line, in ISO 8601. Its text is formatted once a millisecond, as under load many lines share one. */
export function timestamp(nowMs = Date.now()): string {
  if (nowMs !== formattedMs) {
    formattedMs = nowMs;
    field = `,"time":"${new Date(nowMs).toISOString()}"`;
  }
  return field;
}

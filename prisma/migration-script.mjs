/** Comments, texts, quoted names and bodies of functions. */
const OPAQUE = /--[^\n]*|\/\*[^]*?\*\/|\be'(?:[^'\\]|\\[^]|'')*'|'[^']*'|"[^"]*"|\$(\w*)\$[^]*?\$\1\$/gi;
const TRANSACTION =
  /(?:^|;)\s*(?:begin|start\s+transaction|commit|end|rollback|abort|prepare\s+transaction)\b/i;

/**
 * Whether PostgreSQL applies a script whole or not at all. Concurrent builds of indexes reject that, and a
 * script may have transactions of its own.
 */
export function isOneTransaction(sql) {
  return !/\bconcurrently\b/i.test(sql) && !TRANSACTION.test(sql.replaceAll(OPAQUE, ' '));
}

/** Whether PostgreSQL applies a script whole or not at all. Concurrent builds of indexes reject that. */
export function isOneTransaction(sql) {
  return !/\bconcurrently\b/i.test(sql);
}

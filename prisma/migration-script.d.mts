/** Whether PostgreSQL applies a script whole or not at all. */
export function isOneTransaction(sql: string): boolean;

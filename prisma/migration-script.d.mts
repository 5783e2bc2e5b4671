/** Whether PostgreSQL applies a script whole or not at all. In doubt, returns false. */
export function isOneTransaction(sql: string): boolean;

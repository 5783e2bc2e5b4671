/** Returns the name of the index that a migration builds concurrently, or undefined for any other migration. */
export function concurrentlyBuiltIndex(sql: string): string | undefined;

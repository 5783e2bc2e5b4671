/** The name of the index that a migration builds concurrently, or undefined if it does anything else. */
export function concurrentlyBuiltIndex(sql: string): string | undefined;

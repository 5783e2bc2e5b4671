/**
 * Returns an address of PostgreSQL, as libpq reads it, in the form that the driver reads: with a host, without
 * `sslrootcert=system`, and with `verify-full` for the modes of TLS that the driver treats as that. An invalid
 * address is returned as it is.
 */
export function toDriverAddress(address: string): string;

/**
 * Returns the schema that `?schema=` of a connection string names, or null: then the first of the session's
 * `search_path` is used.
 */
export function schemaOf(connectionString: string | undefined): string | null;

/** Codes of an unavailable database: another attempt may succeed. */
const UNAVAILABLE_CODES = [
  // SQLSTATEs (PostgreSQL, Appendix A): connection lost or refused, resources exhausted, shutdown, timeout,
  // login rejected, database or schema gone, read-only, conflicting transactions; and a missing privilege,
  // which an administrator may grant.
  /^(08...|28...|40001|40P01|42501|53...|57P0.|57014|55P03|3D000|3F000|55000|25006|25P0[34])$/,
  // Node reports these for a certificate that is not trusted, or a failure of TLS.
  /^(CERT_|CRL_|DEPTH_ZERO_|ERR_SSL_|ERR_TLS_|HOSTNAME_MISMATCH|INVALID_CA|SELF_SIGNED_|UNABLE_TO_)/,
  // Prisma reports these: no connection or transaction in time, conflicting transactions.
  /^(P2024|P2028|P2034)$/,
  // No time is left for another statement (`requestDeadlineError`).
  /^REQUEST_DEADLINE$/,
  // Prisma's adapter reports these for errors of a socket.
  /^(DatabaseNotReachable|SocketTimeout|ConnectionClosed|TlsConnectionError)$/,
];
/** Messages of `pg` without a code. */
const UNAVAILABLE_MESSAGE = new RegExp(
  'Connection terminated|server does not support SSL|error establishing an SSL connection|' +
    'timeout exceeded when trying to connect|Query read timeout|timeout expired|Client was closed|' +
    'not queryable|Cannot use a pool after calling end',
);
/** Codes of the operating system and of DNS, such as ECONNREFUSED, EMFILE and EAI_AGAIN; ERR_ is Node's. */
const SYSTEM_CODE = /^E(?!RR_)[A-Z]+(_[A-Z]+)?$/;
/**
 * The system calls that look up names (`queryA` and others belong to c-ares) and use connections; undefined,
 * because Prisma leaves it out. A failed call on a file says nothing about the database.
 */
const NETWORK_CALL = /^(connect|getaddrinfo|query\w+|read|write|shutdown|undefined)$/;
/**
 * SQLSTATEs, and Prisma's code, of conflicting transactions, of which one was rolled back and may be retried
 * at once.
 */
const CONFLICT = /^(40001|40P01|P2034)$/;
/** The SQLSTATE of a write to a read-only server, and of a connection to a standby (`configureSession`). */
const READ_ONLY = /^25006$/;
/**
 * Codes of PostgreSQL and Prisma for a table, column, type or operator that the database lacks. No value that
 * a client sends causes them, because statements are fixed.
 */
const SCHEMA_FAULT = /^(42703|42704|42804|42846|42883|42P01|42P10|P2021|P2022)$/;
/**
 * SQLSTATEs of a statement that PostgreSQL rejected, possibly because of a value, so that it changed nothing:
 * cardinality, data, constraints, routines, views, limits of a row, errors of triggers, corrupt pages.
 */
const REJECTED = /^(21|22|23|38|39|44|54|P0|XX)[0-9A-Z]{3}$/;

/** What an error of `pg`, of Prisma, or of its adapter may have. */
interface DatabaseFailure {
  code?: unknown;
  message?: unknown;
  cause?: unknown;
  kind?: string;
  host?: string;
  port?: number;
  reason?: string;
  originalCode?: string;
  originalMessage?: string;
  syscall?: unknown;
  meta?: { driverAdapterError?: unknown };
  errors?: unknown[];
}

/**
 * Returns whether an error of Prisma or `pg` means that transactions conflicted, and this one was rolled
 * back.
 */
export function isConflict(error: unknown): boolean {
  return hasCode(error, CONFLICT);
}

/**
 * Returns whether an error of Prisma or `pg` means that the server is read-only: after a failover, its
 * address may lead to another.
 */
export function isReadOnly(error: unknown): boolean {
  return hasCode(error, READ_ONLY);
}

/**
 * Returns whether an error of Prisma or `pg` means that the database is unavailable, so that a later try may
 * succeed.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  return (
    UNAVAILABLE_CODES.some((codes) => hasCode(error, codes)) ||
    failures(error).some(
      ({ message, code, syscall }) =>
        UNAVAILABLE_MESSAGE.test(String(message)) ||
        (SYSTEM_CODE.test(String(code)) && NETWORK_CALL.test(String(syscall))),
    )
  );
}

/**
 * Returns whether an error means that PostgreSQL rejected a value, and so changed nothing: the same statement
 * may succeed without that value. An error of our own code proves nothing, because it may follow the commit.
 */
export function isRejectedValue(error: unknown): boolean {
  return !isDatabaseUnavailable(error) && hasCode(error, REJECTED);
}

/** Returns whether an error of Prisma or `pg` means that the database lacks something that migrations add. */
export function isSchemaFault(error: unknown): boolean {
  return hasCode(error, SCHEMA_FAULT);
}

/** Returns whether an error of Prisma or `pg` has such a code. */
export function hasCode(error: unknown, codes: RegExp): boolean {
  return failures(error).some(({ code, originalCode, kind }) =>
    [code, originalCode, kind].some((each) => codes.test(String(each))),
  );
}

/** Returns an error with its causes. */
function failures(error: unknown): DatabaseFailure[] {
  if (typeof error !== 'object' || error === null) {
    return [];
  }
  const { cause, meta, errors = [] }: DatabaseFailure = error;
  return [error, ...[cause, meta?.driverAdapterError, ...errors].flatMap(failures)];
}

/**
 * Returns, on one line, why a query failed: PostgreSQL's own message, if it sent one; else what Prisma's
 * adapter keeps of an error of the connection. Prisma's messages start with the call; some errors have only a
 * code.
 */
export function databaseReason(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  const { originalMessage, kind, host, port, reason } = findAdapterFailure(error) ?? {};
  const connection = kind && [kind, host && `${host}:${port}`, reason].filter(Boolean).join(' ');
  return originalMessage ?? connection ?? (message?.trimEnd().split('\n').at(-1) || code || String(error));
}

/** Returns the SQLSTATE of an error of Prisma or `pg`, else its code, else its name. */
export function errorType(error: unknown): string {
  const { code, name = 'Error' } = Object(error) as { code?: string; name?: string };
  return findAdapterFailure(error)?.originalCode ?? code ?? name;
}

/** Returns what Prisma's adapter keeps of the driver's error. */
function findAdapterFailure(error: unknown): DatabaseFailure | undefined {
  return failures(error).find(({ kind }) => kind !== undefined);
}

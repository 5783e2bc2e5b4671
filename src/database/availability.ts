/**
 * SQLSTATEs that say "not now" rather than "not so" (PostgreSQL, Appendix A): connection lost or refused, resources
 * exhausted, shutdown, statement or lock timed out, login refused, database gone or closed to connections; and that two
 * transactions met, which one of them has to begin anew. Also that the role lacks a privilege, which its administrator may grant.
 */
const UNAVAILABLE_SQLSTATE = /^(08...|28...|40001|40P01|42501|53...|57P0.|57014|55P03|3D000|55000|25006)$/;
const UNAVAILABLE_SYSTEM_CODE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** Node's codes of a server whose certificate is not to be trusted, or that fails at TLS. Both may be mended there. */
const UNAVAILABLE_TLS_CODE =
  /^(CERT_|CRL_|DEPTH_ZERO_|ERR_SSL_|ERR_TLS_|HOSTNAME_MISMATCH|INVALID_CA|SELF_SIGNED_|UNABLE_TO_)/;
/**
 * Prisma's codes for: pool timed out, transaction could not start in time, transactions met. The rest it tells by the driver's
 * error.
 */
const UNAVAILABLE_PRISMA_CODE = /^(P2024|P2028|P2034)$/;
/** What Prisma's adapter makes of a socket's errors. */
const UNAVAILABLE_KIND = /^(DatabaseNotReachable|SocketTimeout|ConnectionClosed|TlsConnectionError)$/;
/** What `pg` says without a code. */
const UNAVAILABLE_MESSAGE =
  /Connection terminated|server does not support SSL|error establishing an SSL connection|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client was closed|not queryable|Cannot use a pool after calling end/;

/** The parts of an error of `pg`, of Prisma, or of its adapter that tell what the database said. */
interface DatabaseFailure {
  code?: unknown;
  message?: unknown;
  cause?: unknown;
  kind?: unknown;
  originalCode?: unknown;
  meta?: { driverAdapterError?: unknown };
  errors?: unknown[];
}

/** SQLSTATEs, and Prisma's code, of transactions that met: one was rolled back whole, and may be run again at once. */
const CONFLICT = /^(40001|40P01|P2034)$/;
const PERMISSION_DENIED = /^42501$/;

/** Whether an error of Prisma or `pg` means that transactions met, and this one was rolled back. */
export function isConflict(error: unknown): boolean {
  return hasCode(error, CONFLICT);
}

/** Whether an error of Prisma or `pg` means that the role lacks a privilege. */
export function isPermissionDenied(error: unknown): boolean {
  return hasCode(error, PERMISSION_DENIED);
}

function hasCode(error: unknown, codes: RegExp): boolean {
  if (typeof error !== 'object' || error === null) {
    return false;
  }
  const { code, cause, originalCode, meta } = error as DatabaseFailure;
  return (
    codes.test(String(originalCode ?? code)) ||
    [cause, meta?.driverAdapterError].some((inner) => hasCode(inner, codes))
  );
}

/** Whether an error of Prisma or `pg` means that the database is away or overloaded, so that a later try may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) {
    return false;
  }
  const { code, message, cause, kind, originalCode, meta, errors } = error as DatabaseFailure;
  return (
    UNAVAILABLE_SQLSTATE.test(String(originalCode ?? code)) ||
    UNAVAILABLE_SYSTEM_CODE.test(String(code)) ||
    UNAVAILABLE_TLS_CODE.test(String(code)) ||
    UNAVAILABLE_PRISMA_CODE.test(String(code)) ||
    UNAVAILABLE_KIND.test(String(kind)) ||
    UNAVAILABLE_MESSAGE.test(String(message)) ||
    [cause, meta?.driverAdapterError, ...(errors ?? [])].some(isDatabaseUnavailable)
  );
}

/**
 * What happened, on one line, of an error of Prisma or `pg`. Prisma's messages begin with the code around the call; a
 * refused connection to a name of several addresses has a code, but no message.
 */
export function databaseReason(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message?.trimEnd().split('\n').at(-1) || code || String(error);
}

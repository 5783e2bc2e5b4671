import {
  databaseReason,
  hasCode,
  isDatabaseUnavailable,
  isSchemaFault,
} from '../database/access/availability.js';
import { HOW_TO_MIGRATE } from '../database/migrations/schema-faults.js';
import { InvalidEnvironmentError } from '../process/settings/environment.js';
import { ApiError } from '../http/routes/api-error.js';
import { OperatorError } from '../process/operator-error.js';
import { UnavailableError } from '../database/access/unavailable-error.js';
import { COUNTER_STORE } from '../rate-limit/stores/counter-store.js';

const PERMISSION_DENIED = /^42501$/;

/** Returns why a process ends: a message for a fault that an operator can fix, the stack for a defect. */
export function describeFailure(error: unknown): string {
  if (error instanceof InvalidEnvironmentError) {
    return `The settings are wrong:\n${error.message}`;
  }
  if (error instanceof ApiError || error instanceof OperatorError) {
    return error.message;
  }
  if (error instanceof UnavailableError && error.store === COUNTER_STORE) {
    // Only Redis: with counters in PostgreSQL, the error is PostgreSQL's own.
    return `${error.message} (check COUNTER_STORE_URL)`;
  }
  if (isSchemaFault(error)) {
    return `The database lacks the tables of this version: ${HOW_TO_MIGRATE}. ${databaseReason(error)}`;
  }
  if (hasCode(error, PERMISSION_DENIED)) {
    return (
      'The role of DATABASE_URL lacks a privilege, which the owner of the table may GRANT: ' +
      databaseReason(error)
    );
  }
  if (error instanceof Error && (isOfPostgres(error) || isDatabaseUnavailable(error))) {
    return `The database cannot be used (check DATABASE_URL): ${databaseReason(error)}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Returns whether PostgreSQL reported an error. The schema engine has its own copy of `pg`'s classes. */
const isOfPostgres = (error: Error): boolean => 'severity' in error && hasCode(error, /^[0-9A-Z]{5}$/);

import pg from 'pg';
import { databaseReason, isDatabaseUnavailable } from './database/availability.js';
import { EmbeddedPostgresError } from './embedded-postgres/embedded-postgres-error.js';
import { InvalidEnvironmentError } from './environment.js';
import { ApiError } from './errors/api-error.js';

/** Why a process ends: one line for what a person can mend, else the whole error, as it is a defect. */
export function reasonOf(error: unknown): string {
  if (error instanceof InvalidEnvironmentError) {
    return `The settings are wrong:\n${error.message}`;
  }
  if (error instanceof ApiError || error instanceof EmbeddedPostgresError) {
    return error.message;
  }
  if (error instanceof Error && (error instanceof pg.DatabaseError || isDatabaseUnavailable(error))) {
    return `The database cannot be used (check DATABASE_URL): ${databaseReason(error)}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

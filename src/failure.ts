import pg from 'pg';
import { isDatabaseUnavailable } from './database/availability.js';
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
    return `The database cannot be used (check DATABASE_URL): ${lastLine(error.message)}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Prisma's messages begin with the code around the call; what happened stands last. */
function lastLine(message: string): string {
  return message.trimEnd().split('\n').at(-1) ?? message;
}

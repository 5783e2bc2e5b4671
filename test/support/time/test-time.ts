import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { locateProgram } from '../programs/programs.js';
import { FAKETIME } from './faketime.js';

let aheadMs = 0;
let stoppedAtMs: number | null = null;
let file: string | null = null;
let programsFollow = false;

/** Returns how far the time of this test file is ahead of the machine's, in milliseconds. */
export const testTimeAheadMs = (): number => aheadMs;

/** Returns the time of this test file, in milliseconds since the Unix epoch. */
export const testTimeMs = (): number => stoppedAtMs ?? Date.now() + aheadMs;

/** Moves the time of this test file: of its clocks, and of the databases and Redis servers that follow it. */
export function moveTestTimeTo(unixMs: number): void {
  aheadMs = unixMs - Date.now();
  stoppedAtMs = null;
  publish();
}

/**
 * Stops the time of this test file: of its clocks, and of the databases that follow it.
 *
 * @throws Error if a Redis server follows it, because its time goes on.
 */
export function stopTestTimeAt(unixMs: number): void {
  if (programsFollow) {
    throw new Error('The time of a Redis server cannot be stopped');
  }
  moveTestTimeTo(unixMs);
  stoppedAtMs = unixMs;
  publish();
}

/**
 * Returns the SQL that makes a database take its time from this test file, in sessions that begin after it.
 * Functions of its schema take the place of PostgreSQL's own, because `search_path` names it first.
 */
export function sqlOfTestTime(): string {
  const define = (name: string, volatility: string) => `
    CREATE OR REPLACE FUNCTION public.${name}() RETURNS timestamptz
    LANGUAGE plpgsql ${volatility} PARALLEL SAFE SECURITY DEFINER AS $$
    DECLARE time_of_test text := pg_read_file('${openFile()}');
    BEGIN
      IF time_of_test LIKE '%Z' THEN
        RETURN time_of_test::timestamptz;
      END IF;
      RETURN pg_catalog.${name}() + make_interval(secs => time_of_test::float8);
    END $$;`;
  return `
    ${define('statement_timestamp', 'STABLE')}
    ${define('clock_timestamp', 'VOLATILE')}
    DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
    END $$`;
}

/** Returns the command of a program that takes its time from this test file. */
export function commandOfTestTime(program: string): string[] {
  // Without the C library's own memory functions, jemalloc reads the time before faketime is ready.
  programsFollow = true;
  const libraries = `LD_PRELOAD=${FAKETIME}:libc.so.6`;
  const time = `FAKETIME_TIMESTAMP_FILE=${openFile()}`;
  const settings = [libraries, time, 'FAKETIME_NO_CACHE=1', 'FAKETIME_DONT_FAKE_MONOTONIC=1'];
  return ['env', ...settings, copyWithoutJemalloc(program)];
}

/** Returns a copy of a program that frees memory by `free` instead of jemalloc's own `sdallocx`. */
function copyWithoutJemalloc(program: string): string {
  const copy = path.join(testFolder(), `${program}-${randomUUID()}`);
  const code = readFileSync(locateProgram(program) ?? program, 'latin1');
  writeFileSync(copy, code.replace('\0sdallocx\0', '\0free\0\0\0\0\0'), { encoding: 'latin1', mode: 0o755 });
  return copy;
}

function testFolder(): string {
  const folder = process.env['TEST_FOLDER'];
  if (folder === undefined) {
    throw new Error('TEST_FOLDER is not set: the global setup did not run');
  }
  return folder;
}

function openFile(): string {
  file ??= path.join(testFolder(), `time-${randomUUID()}`);
  publish();
  return file;
}

/**
 * Writes the seconds as faketime reads them, or the instant at which time is stopped, at once: a reader sees
 * the old ones or the new ones.
 */
function publish(): void {
  if (file === null) {
    return;
  }
  const draft = `${file}.draft`;
  const seconds = `${aheadMs < 0 ? '' : '+'}${aheadMs / 1000}`;
  writeFileSync(draft, stoppedAtMs === null ? seconds : new Date(stoppedAtMs).toISOString());
  renameSync(draft, file);
}

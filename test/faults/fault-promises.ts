import type { TestDatabase } from '../support/database/database.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import type { Course } from './faults.js';
import type { HealthCheck } from './health-watch.js';

const LONGEST_RESPONSE_MS = 6000;
const RECOVERY_MS = 2000;
/** `/readyz` queries for at most a second and a half, and its result holds for one second. */
const UNREADY_MS = 2500;
const READINESS_MS = 2000;
/** `/livez` queries nothing: only a busy machine delays it. */
const LIVE_MS = 1500;
/** The further delay by a busy machine. */
const SLACK_MS = 500;

/** What `/readyz` must report during a fault; `either` for a fault that may end between two requests. */
export type Readiness = 'ready' | 'not ready' | 'either';

/**
 * Expects, for every fault, well-formed responses in time, and success soon after it.
 *
 * @param countedAgainMs the time within which the shared store counts again.
 */
export function expectResponsesInFormAndInTime(course: Course, countedAgainMs = RECOVERY_MS): void {
  expect(course.failedBefore).toBe(0);
  for (const response of course.failedResponses) {
    // A retry gets 409 while the first attempt is in flight.
    const [status, code] =
      response.status === 409
        ? ([409, 'idempotency_conflict'] as const)
        : ([503, 'service_unavailable'] as const);
    expectError(response, status, code);
    expectRateLimitHeaders(response);
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  expect(course.withoutResponse).toBe(0);
  expect(course.longestMs).toBeLessThan(LONGEST_RESPONSE_MS);
  expect(course.servedAgainMs).toBeLessThan(RECOVERY_MS);
  expect(course.countedAgainMs).toBeLessThan(countedAgainMs);
}

/** Expects the process to be live throughout, and its readiness to be correct and reported in time. */
export function expectTruthfulHealth(course: Course, readiness: Readiness): void {
  const { livez, readyz } = course;
  expect(new Set(livez.map(({ status }) => status))).toEqual(new Set([200]));
  expect(longest(livez)).toBeLessThan(LIVE_MS);
  expect(longest(readyz)).toBeLessThan(READINESS_MS + SLACK_MS);
  if (readiness === 'ready') {
    expect(course.unreadyMs).toBeNull();
  }
  if (readiness === 'not ready') {
    expect(course.unreadyMs).not.toBeNull();
  }
  expect(course.unreadyMs ?? 0).toBeLessThan(UNREADY_MS + SLACK_MS);
  if (readiness !== 'either') {
    expect(course.readyMeanwhile).toBe(false);
  }
  expect(course.readyAgainMs).toBeLessThan(RECOVERY_MS);
}

/**
 * Expects every animal whose creation got 201, and one animal for each Idempotency-Key, however often it was
 * sent.
 */
export async function expectNothingLost(
  database: Pick<TestDatabase, 'query'>,
  course: Course,
): Promise<void> {
  const rows = await database.query<{ id: string; name: string }>('SELECT id, name FROM pets');
  const kept = new Map(rows.map(({ id, name }) => [Number(id), name]));
  const { acknowledged } = course;
  expect(acknowledged.size).toBeGreaterThan(0);
  expect([...acknowledged].filter(([id, name]) => kept.get(id) !== name)).toStrictEqual([]);
  const once = rows.map(({ name }) => name).filter((name) => name.startsWith('add-once'));
  expect(once).toHaveLength(new Set(once).size);
}

/** Expects all of the above. */
export async function expectPromisesKept(
  database: Pick<TestDatabase, 'query'>,
  course: Course,
  readiness: Readiness,
  countedAgainMs = RECOVERY_MS,
): Promise<void> {
  await expectNothingLost(database, course);
  expectResponsesInFormAndInTime(course, countedAgainMs);
  expectTruthfulHealth(course, readiness);
}

const longest = (checks: HealthCheck[]) => Math.max(...checks.map(({ sentMs, endedMs }) => endedMs - sentMs));

import type { TestDatabase } from './database.js';
import { expectError, expectRateLimitHeaders } from './expectations.js';
import type { Course } from './faults.js';
import type { Health } from './health-watch.js';

const LONGEST_ANSWER_MS = 6000;
const RECOVERY_MS = 2000;
/** `/readyz` asks for a second and a half at the most, and its answer holds for one. */
const UNREADY_MS = 2500;
const READINESS_MS = 2000;
/** It asks nobody: what it takes is the machine's. */
const LIVE_MS = 1500;
/** What a busy machine takes for the rest. */
const SLACK_MS = 500;

/** What `/readyz` has to tell during a fault; `either` of one that may be over before anybody asks. */
export type Readiness = 'ready' | 'not ready' | 'either';

/** What holds for every fault: answers in form and in time, and all of them as they should be soon after it. */
export function expectAnswersInFormAndInTime(course: Course): void {
  expect(course.failedBefore).toBe(0);
  for (const answer of course.refusals) {
    // While the first attempt of an addition that is tried again is still under way, its twin is told so.
    const [status, code] =
      answer.status === 409
        ? ([409, 'idempotency_conflict'] as const)
        : ([503, 'service_unavailable'] as const);
    expectError(answer, status, code);
    expectRateLimitHeaders(answer);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  expect(course.unanswered).toBe(0);
  expect(course.longestMs).toBeLessThan(LONGEST_ANSWER_MS);
  expect(course.servedAgainMs).toBeLessThan(RECOVERY_MS);
  expect(course.countedAgainMs).toBeLessThan(RECOVERY_MS);
}

/** The process lives, whatever happens to others; and its readiness is told in time, and truly. */
export function expectTruthfulHealth(course: Course, readiness: Readiness): void {
  const { livez, readyz } = course.health;
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
  expect(course.readyMeanwhile).toBe(false);
  expect(course.readyAgainMs).toBeLessThan(RECOVERY_MS);
}

/** Every animal whose creation was answered 201 is there; and that of an Idempotency-Key once, however often it was tried. */
export async function expectNothingLost(
  database: Pick<TestDatabase, 'query'>,
  course: Course,
): Promise<void> {
  const rows = await database.query<{ id: string; name: string }>('SELECT id, name FROM pets');
  const kept = new Map(rows.map(({ id, name }) => [Number(id), name]));
  const { acknowledged } = course.load;
  expect(acknowledged.size).toBeGreaterThan(0);
  course.lost = [...acknowledged].filter(([id, name]) => kept.get(id) !== name).length;
  expect(course.lost).toBe(0);
  const once = rows.map(({ name }) => name).filter((name) => name.startsWith('add-once'));
  expect(once).toHaveLength(new Set(once).size);
}

/** All of that. */
export async function expectPromisesKept(
  database: Pick<TestDatabase, 'query'>,
  course: Course,
  readiness: Readiness,
): Promise<void> {
  await expectNothingLost(database, course);
  expectAnswersInFormAndInTime(course);
  expectTruthfulHealth(course, readiness);
}

const longest = (seen: Health[]) => Math.max(...seen.map(({ askedMs, answeredMs }) => answeredMs - askedMs));

import type { RouteOptions } from 'fastify';
import FindMyWay, { type HTTPMethod } from 'find-my-way';
import { DeprecatedOperations } from '../../src/deprecation/deprecated-operations.js';
import type { Deprecation } from '../../src/deprecation/rules/lifecycle.js';
import { startApplication } from '../support/service/application.js';

/** The notice that docs/versioning.md promises. */
const NOTICE_MONTHS = { stable: 12, beta: 1, experimental: 0 };
const DAY_MS = 24 * 60 * 60 * 1000;

type Operation = Pick<RouteOptions, 'url' | 'config'> & { method: HTTPMethod };

const operations: Operation[] = [];

beforeAll(async () => {
  jest.spyOn(DeprecatedOperations.prototype, 'addRoute').mockImplementation((route) => {
    const methods = [route.method].flat() as HTTPMethod[];
    operations.push(...methods.map((method) => ({ ...route, method })));
  });
  const store = await startApplication();
  await store.close();
});

const named = ({ method, url }: Operation) => `${method} ${url}`;
const isOperation = ({ url, method }: Operation) => /^\/(v1|admin)\//.test(url) && method !== 'HEAD';

/** Returns the deprecated operations, and expects at least one. */
function deprecated(): (Operation & { deprecation: Deprecation })[] {
  const found = operations.filter(isOperation).flatMap((operation) => {
    const deprecation = operation.config?.deprecation;
    return deprecation === undefined ? [] : [{ ...operation, deprecation }];
  });
  expect(found.map(named)).toContain('GET /v1/pets/:petId');
  return found;
}

describe('the declaration of an operation', () => {
  it('has a stability', () => {
    const withoutStability = operations.filter(
      (operation) => isOperation(operation) && !operation.config?.stability,
    );
    expect(operations.filter(isOperation).length).toBeGreaterThan(10);
    expect(withoutStability.map(named)).toEqual([]);
  });

  it('has a removal at 00:00 UTC, since errors and documents show only the date', () => {
    for (const { deprecation } of deprecated()) {
      expect(deprecation.removal.getTime() % DAY_MS).toBe(0);
    }
  });

  it('has a removal after its deprecation, with at least the notice of its stability', () => {
    for (const { config, deprecation } of deprecated()) {
      const earliest = new Date(deprecation.since);
      earliest.setUTCMonth(earliest.getUTCMonth() + NOTICE_MONTHS[config?.stability ?? 'stable']);
      expect(deprecation.removal.getTime()).toBeGreaterThan(deprecation.since.getTime());
      expect(deprecation.removal.getTime()).toBeGreaterThanOrEqual(earliest.getTime());
    }
  });

  it('has a replacement with the same method that is neither deprecated nor experimental', () => {
    const router = FindMyWay();
    for (const operation of operations) {
      router.on(operation.method, operation.url, () => {}, operation);
    }
    for (const { method, deprecation } of deprecated()) {
      const route = router.find(method, deprecation.replacement);
      expect(Object.values(route?.params ?? {})).not.toContain('');
      const replacement = route?.store as Operation | undefined;
      expect(replacement?.config?.deprecation).toBeUndefined();
      expect(replacement?.config?.stability).toMatch(/^(stable|beta)$/);
    }
  });
});

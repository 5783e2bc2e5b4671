import type { RouteOptions } from 'fastify';
import FindMyWay, { type HTTPMethod } from 'find-my-way';
import { addMonths, NOTICE_MONTHS } from '../../dev/release/notice.js';
import type { Deprecation } from '../../src/deprecation/rules/lifecycle.js';
import { AllowedMethods } from '../../src/http/routes/allowed-methods.js';
import { DAY_MS } from '../support/time/clock.js';
import { startApplication } from '../support/service/application.js';

type Operation = Pick<RouteOptions, 'url' | 'config'> & { method: HTTPMethod };

/** All routes, and the deprecated operations among them. */
const routes: Operation[] = [];
let deprecated: (Operation & { deprecation: Deprecation })[];

beforeAll(async () => {
  jest.spyOn(AllowedMethods.prototype, 'addRoute').mockImplementation((route) => {
    const methods = [route.method].flat() as HTTPMethod[];
    routes.push(...methods.map((method) => ({ ...route, method })));
  });
  await (await startApplication()).close();
  deprecated = operations().flatMap((operation) => {
    const deprecation = operation.config?.deprecation;
    return deprecation === undefined ? [] : [{ ...operation, deprecation }];
  });
  expect(deprecated.map(named)).toContain('GET /v1/pets/:petId');
});

const named = ({ method, url }: Operation) => `${method} ${url}`;
const operations = () =>
  routes.filter(
    ({ url, method, config }) =>
      /^\/(v1|admin)\//.test(url) && method !== 'HEAD' && config?.isFallback !== true,
  );

describe('the declaration of an operation', () => {
  it('has a stability', () => {
    expect(operations().length).toBeGreaterThan(10);
    expect(operations().filter(({ config }) => !config?.stability)).toStrictEqual([]);
  });

  it('has a removal at 00:00 UTC, because errors and documents show only the date', () => {
    for (const { deprecation } of deprecated) {
      expect(deprecation.removal.getTime() % DAY_MS).toBe(0);
    }
  });

  it('has a removal after its deprecation, with at least the notice of its stability', () => {
    for (const { config, deprecation } of deprecated) {
      const since = deprecation.since.toISOString().slice(0, 10);
      const earliest = addMonths(since, NOTICE_MONTHS[config?.stability ?? 'stable']!);
      expect(deprecation.removal.getTime()).toBeGreaterThan(deprecation.since.getTime());
      expect(deprecation.removal.getTime()).toBeGreaterThanOrEqual(Date.parse(earliest));
    }
  });

  it('has successors with the same method that are neither deprecated nor experimental', () => {
    const router = FindMyWay();
    for (const operation of routes) {
      router.on(operation.method, operation.url, () => {}, operation);
    }
    for (const { method, deprecation } of deprecated) {
      // One is there for every request.
      expect(deprecation.successors.some((successor) => !successor.includes('{'))).toBe(true);
      for (const successor of deprecation.successors) {
        const route = router.find(method, successor.replace(/\{\w+\}/, '7'));
        expect(Object.values(route?.params ?? {})).not.toContain('');
        const operation = route?.store as Operation | undefined;
        expect(operation?.config?.deprecation).toBeUndefined();
        expect(operation?.config?.stability).toMatch(/^(stable|beta)$/);
      }
    }
  });
});

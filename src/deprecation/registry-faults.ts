import FindMyWay from 'find-my-way';
import type { Deprecation, Lifecycle, Stability } from './lifecycle.js';

/** An operation as its route declares it. */
export interface Operation extends Lifecycle {
  /** The operation's name in the OpenAPI document; method and path where it declares none. */
  name: string;
  method: string;
  /** Its path, with parameters as `:name`. */
  path: string;
}

/** Clients have at least as long to leave a deprecated operation (`docs/versioning.md`). */
const NOTICE_MONTHS: Record<Stability, number> = { stable: 12, beta: 1, experimental: 0 };
const DAY_MS = 24 * 60 * 60 * 1000;

/** What does not hold in what the operations declare, a line each; none when all does. */
export function registryFaults(all: readonly Operation[]): string[] {
  // Fastify has a route of HEAD for each of GET.
  const operations = all.filter(({ method }) => method !== 'HEAD');
  const find = finderOf(operations);
  return operations.flatMap((operation) =>
    [
      ...(operation.stability === undefined ? ['has no stability'] : []),
      ...(operation.deprecation === undefined
        ? []
        : deprecationFaults(operation, operation.deprecation, find)),
    ].map((fault) => `${operation.name} ${fault}`),
  );
}

type Find = (method: string, target: string) => Operation | undefined;

/** What finds the operation that a request would meet, by Fastify's own router. An empty parameter is none. */
function finderOf(operations: readonly Operation[]): Find {
  const router = FindMyWay();
  for (const operation of operations) {
    router.on(operation.method as FindMyWay.HTTPMethod, operation.path, () => {}, operation);
  }
  return (method, target) => {
    const route = router.find(method as FindMyWay.HTTPMethod, target);
    const isWhole = route !== null && !Object.values(route.params).includes('');
    return isWhole ? (route.store as Operation) : undefined;
  };
}

function deprecationFaults(
  { method, stability = 'stable' }: Operation,
  { since, removal, replacement }: Deprecation,
  find: Find,
): string[] {
  const successor = find(method, replacement);
  const target = `${method} ${replacement}`;
  const months = NOTICE_MONTHS[stability];
  const earliestRemoval = new Date(since);
  earliestRemoval.setUTCMonth(since.getUTCMonth() + months);
  const faults: [boolean, string][] = [
    [removal <= since, 'is removed before it is deprecated'],
    [
      removal > since && removal < earliestRemoval,
      `is removed less than ${months} ${months === 1 ? 'month' : 'months'} after it is deprecated`,
    ],
    // Errors and documents tell the day alone.
    [removal.getTime() % DAY_MS !== 0, 'is removed within a day, not at 00:00 UTC'],
    [successor === undefined, `has a replacement that does not exist: ${target}`],
    [successor?.deprecation !== undefined, `has a replacement that is deprecated itself: ${target}`],
    [successor?.stability === 'experimental', `has a replacement that is experimental: ${target}`],
  ];
  return faults.filter(([isFault]) => isFault).map(([, text]) => text);
}

import type { Deprecation } from './deprecated.decorator.js';
import type { Lifecycle } from './lifecycle.js';

/** An operation as its route declares it. */
export interface Operation extends Lifecycle {
  /** The operation's name in the OpenAPI document. */
  name: string;
  method: string;
  /** Its path, with parameters as `:name`. */
  path: string;
}

/** Clients have at least as long to leave a deprecated operation (`docs/versioning.md`). */
const NOTICE_MONTHS = 12;

/** What does not hold in what the operations declare, a line each; none when all does. */
export function registryFaults(operations: readonly Operation[]): string[] {
  // Fastify has a route of HEAD for each of GET.
  return operations
    .filter(({ method }) => method !== 'HEAD')
    .flatMap(({ name, stability, deprecation }) =>
      [
        ...(stability === undefined ? ['has no stability'] : []),
        ...(deprecation === undefined ? [] : deprecationFaults(deprecation, operations)),
      ].map((fault) => `${name} ${fault}`),
    );
}

function deprecationFaults(
  { since, removal, replacement }: Deprecation,
  operations: readonly Operation[],
): string[] {
  const successor = operations.find(({ method, path }) => method === 'GET' && matches(path, replacement));
  const earliestRemoval = new Date(since);
  earliestRemoval.setUTCMonth(since.getUTCMonth() + NOTICE_MONTHS);
  const faults: [boolean, string][] = [
    [removal <= since, 'is removed before it is deprecated'],
    [
      removal > since && removal < earliestRemoval,
      `is removed less than ${NOTICE_MONTHS} months after it is deprecated`,
    ],
    [successor === undefined, `has a replacement that does not exist: GET ${replacement}`],
    [successor?.deprecation !== undefined, `has a replacement that is deprecated itself: GET ${replacement}`],
  ];
  return faults.filter(([isFault]) => isFault).map(([, text]) => text);
}

/** Whether the path of this target is one of the route's. */
function matches(routePath: string, target: string): boolean {
  const asked = target.split('?', 1)[0]?.split('/') ?? [];
  const steps = routePath.split('/');
  return (
    steps.length === asked.length &&
    steps.every((step, index) => (step.startsWith(':') ? asked[index] !== '' : step === asked[index]))
  );
}

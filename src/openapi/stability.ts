import type { OperationObject } from '@nestjs/swagger';

const PROMISES = {
  stable: 'Changes are compatible, and a removal is announced 12 months before.',
  beta: 'It may change with one month of notice.',
  experimental: 'It may change or be removed without notice. It is available only if `EXPERIMENTAL` is on.',
};

/** Returns what `@Operation()` declares of the operation. */
export function readStability(operation: OperationObject): keyof typeof PROMISES {
  return (operation as OperationObject & { 'x-stability': keyof typeof PROMISES })['x-stability'];
}

/** Returns the paragraph of an operation's description about its stability. */
export function stabilityText(operation: OperationObject): string {
  const stability = readStability(operation);
  return `**Stability: ${stability}.** ${PROMISES[stability]}`;
}

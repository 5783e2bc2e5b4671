import type { OperationObject } from '@nestjs/swagger';

const PROMISES = {
  stable: 'Changes are compatible, and removal has 12 months of notice.',
  beta: 'It may change with a month of notice.',
  experimental: 'It may change or go without notice. It is offered only where `EXPERIMENTAL` is on.',
};

/** Returns what `@Stability()` declares of the operation. */
export function stabilityOf(operation: OperationObject): keyof typeof PROMISES {
  return (operation as OperationObject & { 'x-stability': keyof typeof PROMISES })['x-stability'];
}

/** Returns the paragraph of an operation's description about its stability. */
export function stabilityText(operation: OperationObject): string {
  const stability = stabilityOf(operation);
  return `**Stability: ${stability}.** ${PROMISES[stability]}`;
}

import type { OperationObject } from '@nestjs/swagger';

/** What `@Stability()` says of the operation. */
export function stabilityOf(operation: OperationObject): unknown {
  return (operation as OperationObject & { 'x-stability'?: unknown })['x-stability'];
}

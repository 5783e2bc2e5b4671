import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

/** What decorators say of a route's handler: read when the handler is first met, and known from then on. */
export class HandlerFact<Fact> {
  private readonly known = new WeakMap<object, Fact>();

  constructor(private readonly read: (context: ExecutionContext) => Fact) {}

  of(context: ExecutionContext): Fact {
    const handler = context.getHandler();
    let fact = this.known.get(handler);
    if (fact === undefined) {
      fact = this.read(context);
      this.known.set(handler, fact);
    }
    return fact;
  }
}

/** Whether a decorator has put this metadata on the handler, or on its controller. */
export function isMarked(reflector: Reflector, key: string): HandlerFact<boolean> {
  return new HandlerFact(
    (context) =>
      reflector.getAllAndOverride<boolean>(key, [context.getHandler(), context.getClass()]) ?? false,
  );
}

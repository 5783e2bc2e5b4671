import type { ExecutionContext } from '@nestjs/common';

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

import { Injectable } from '@nestjs/common';
import FindMyWay from 'find-my-way';
import { ROUTER_OPTIONS } from '../server/server-options.js';

/** The methods of each path's routes. */
@Injectable()
export class AllowedMethods {
  /** Of Fastify's own kind, so that paths match alike. */
  private readonly router = FindMyWay(ROUTER_OPTIONS);
  private readonly methods = new Set<FindMyWay.HTTPMethod>();

  add(methods: string | string[], path: string): void {
    for (const method of [methods].flat() as FindMyWay.HTTPMethod[]) {
      this.methods.add(method);
      this.router.on(method, path, () => {});
    }
  }

  /** Returns the methods of this path, in alphabetical order; none when no route has it. */
  of(path: string): string[] {
    const matches = (method: FindMyWay.HTTPMethod) => {
      const route = this.router.find(method, path);
      // NestJS takes no empty parameter: `/v1/pets/` is not `/v1/pets/:petId`; but a wildcard may be empty.
      return (
        route !== null && Object.entries(route.params).every(([name, value]) => name === '*' || value !== '')
      );
    };
    return [...this.methods].filter(matches).toSorted();
  }
}

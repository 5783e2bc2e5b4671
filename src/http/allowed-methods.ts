import { Injectable } from '@nestjs/common';
import FindMyWay from 'find-my-way';
import { ROUTER_OPTIONS } from './server.js';

/** The methods that each path answers, told by the routes themselves as they are registered. */
@Injectable()
export class AllowedMethods {
  /** Fastify's own router, so that a path is the same path here and there. */
  private readonly router = FindMyWay(ROUTER_OPTIONS);
  private readonly methods = new Set<FindMyWay.HTTPMethod>();

  add(methods: string | string[], path: string): void {
    for (const method of [methods].flat() as FindMyWay.HTTPMethod[]) {
      this.methods.add(method);
      this.router.on(method, path, () => {});
    }
  }

  /** The methods of this path, in alphabetical order; none when no route has it. */
  of(path: string): string[] {
    return [...this.methods].filter((method) => this.answers(method, path)).toSorted();
  }

  /** NestJS takes no empty parameter: `/v1/pets/` is not `/v1/pets/:petId`. */
  private answers(method: FindMyWay.HTTPMethod, path: string): boolean {
    const route = this.router.find(method, path);
    return route !== null && Object.values(route.params).every((value) => value !== '');
  }
}

import { Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';

/** Counts by key rather than by address. */
@Injectable()
export class KeyThrottlerGuard extends ThrottlerGuard {
  protected override getTracker(request: { headers: { authorization: string } }): Promise<string> {
    return Promise.resolve(request.headers.authorization);
  }
}

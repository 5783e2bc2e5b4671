import type { Admission } from './admission.js';

/** One request that asks for room in the windows of its subject. */
export interface Ask {
  /** Whose windows: `quota:ID` of a client, `address:IP` of a stranger. */
  subject: string;
  perMinute: number;
  /** Absent for strangers, who have no day window. */
  perDay: number | null;
}

/** Where windows are counted. One store serves all replicas. */
export abstract class CounterStore {
  /**
   * Takes one request from every window of the subject if all have room, else from none, in one atomic step.
   *
   * @throws the driver's error when the store is away.
   */
  abstract take(ask: Ask): Promise<Admission>;

  /**
   * What the subject's windows, refusals and ban are now, without taking anything; `admitted` tells whether a request
   * now would be.
   *
   * @throws the driver's error when the store is away.
   */
  abstract look(ask: Ask): Promise<Admission>;

  /**
   * The subjects that are banned now, and until when.
   *
   * @throws the driver's error when the store is away.
   */
  abstract bans(): Promise<Map<string, Date>>;

  /**
   * Ends a subject's ban. It holds for the next request, wherever that arrives.
   *
   * @returns until when the ban would have lasted, or null when there was none.
   * @throws the driver's error when the store is away.
   */
  abstract liftBan(subject: string): Promise<Date | null>;
}

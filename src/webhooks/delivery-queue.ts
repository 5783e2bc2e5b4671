import { Injectable } from '@nestjs/common';
import { loadSql, namedStatement, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';

const CLAIM = loadSql(import.meta.url, 'claim-delivery');
const SETTLE = loadSql(import.meta.url, 'settle-delivery');
const BACKLOG = namedStatement(
  'webhook-backlog',
  `SELECT count(*)::float8, coalesce(extract(epoch FROM statement_timestamp() - min(created_at)), 0)::float8
   FROM webhook_deliveries WHERE state = 'pending'`,
);

/** A delivery that this replica alone may send until its lease ends. */
export interface ClaimedDelivery {
  id: string;
  endpointId: string;
  url: string;
  /** The current one, and the one before until its overlap ends. */
  secrets: string[];
  body: string;
  /** The attempts so far, this one included. */
  attempts: number;
  attemptedAt: string;
  leasedUntil: string;
}

/** The outcome of an attempt. */
export interface Settlement {
  state: 'delivered' | 'pending' | 'failed';
  failure: string | null;
  attempts: number;
  /** Until the next attempt of a pending one. */
  waitMs: number;
}

/** The queue of deliveries in the database, which all replicas share. Each method throws the database's error. */
@Injectable()
export class DeliveryQueue {
  constructor(
    private readonly queries: QueryRunner,
    private readonly clock: Clock,
  ) {}

  /** Leases the delivery that has been due the longest, except to these endpoints; null if none is due. */
  async claim(leaseMs: number, exceptTo: string[]): Promise<ClaimedDelivery | null> {
    const values = [this.clock.storeOffsetMs, leaseMs, exceptTo];
    const [row] = await this.queries.run<[ClaimedDelivery]>(CLAIM, values);
    return row?.[0] ?? null;
  }

  /** Stores the outcome of an attempt, if the lease is still that of the attempt. */
  async settle({ id, leasedUntil }: ClaimedDelivery, settlement: Settlement): Promise<void> {
    const { state, failure, attempts, waitMs } = settlement;
    const offsetMs = this.clock.storeOffsetMs;
    await this.queries.run(SETTLE, [id, leasedUntil, state, failure, attempts, waitMs, offsetMs]);
  }

  /** Returns how many deliveries are pending, and the age of the oldest in seconds. */
  async backlog(): Promise<[pending: number, oldestSeconds: number]> {
    const [row] = await this.queries.run<[number, number]>(BACKLOG, []);
    return row ?? [0, 0];
  }
}

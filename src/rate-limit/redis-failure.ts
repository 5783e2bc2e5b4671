import { LRUCache } from 'lru-cache';
import { databaseReason } from '../database/availability.js';
import { CounterStoreError, type FailureKind } from './counter-store.js';

/** Message of ioredis for a call that it did not send. */
const NOT_SENT = /enableOfflineQueue/;
/** Message of ioredis for a call that every node has redirected to another. */
const REDIRECTED = /^Too many Cluster redirections/;
/** Of a server or a script, for a key that is no counter. Old servers put it inside an error of the script. */
const WRONG_TYPE = /WRONGTYPE/;
/** How many unavailable components the log remembers. */
const MAX_AWAY = 1000;

/** The server of a call is not connected, so the call was not sent. */
export class NotConnectedError extends Error {
  constructor() {
    super('it is not connected');
  }
}

/**
 * Returns the error for a caller, with what is certain about the outcome.
 *
 * @param isCluster whether other masters may still be connected.
 */
export function explain(error: unknown, isCluster: boolean): CounterStoreError {
  return new CounterStoreError(kindOf(error as Error, isCluster), unusable(error));
}

function kindOf(error: Error, isCluster: boolean): FailureKind {
  const { name, message } = error;
  if (error instanceof NotConnectedError || NOT_SENT.test(message)) {
    return isCluster ? 'failed' : 'noConnection';
  }
  if (name === 'ReplyError') {
    return WRONG_TYPE.test(message) ? 'wrongType' : 'failed';
  }
  return REDIRECTED.test(message) ? 'failed' : 'outcomeUnknown';
}

/** Returns the error that says why Redis cannot be used. */
export function unusable(cause: unknown): Error {
  return new Error(`Redis cannot be used: ${databaseReason(cause)}`, { cause });
}

/** Returns null instead when the server replies with an error, by default any. */
export async function nullOnReplyError<T>(reply: Promise<T>, kind?: FailureKind): Promise<T | null> {
  try {
    return await reply;
  } catch (error) {
    const isReply = error instanceof Error && error.name === 'ReplyError';
    if (isReply && (kind === undefined || kindOf(error, false) === kind)) {
      return null;
    }
    throw error;
  }
}

/** Logs each reason why a component cannot be used once, however often that is tried again, until it is there again. */
export class OutageLog {
  private readonly reasons = new LRUCache<string, Set<string>>({ max: MAX_AWAY });

  constructor(private readonly log: (line: string) => void) {}

  away(component: string, error: unknown): void {
    const reasons = this.reasons.get(component) ?? new Set();
    const reason = databaseReason(error);
    if (!reasons.has(reason)) {
      this.reasons.set(component, reasons.add(reason));
      this.log(`${component} cannot be used, and is tried again: ${reason}`);
    }
  }

  back(component: string): void {
    if (this.reasons.delete(component)) {
      this.log(`${component} is there again`);
    }
  }
}

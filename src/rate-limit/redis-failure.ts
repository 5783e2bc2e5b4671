import { databaseReason } from '../database/availability.js';
import { CounterStoreError, type FailureKind } from './counter-store.js';

/** What the driver says of a call that it did not send. */
const NOT_SENT = /enableOfflineQueue/;
/** What it says of one that each node has sent to another. */
const SENT_ON = /^Too many Cluster redirections/;
/** What a server, or a script, says of a key that has something else than counts. Old servers say it inside an error of the script. */
const SPOILT = /WRONGTYPE/;

/** There is no connection to the server that would have to be asked, and so it was not. */
export class NotConnectedError extends Error {
  constructor() {
    super('it is not connected');
  }
}

/** @param isCluster whether others of the same store may be there all the same. */
export function explain(error: unknown, isCluster: boolean): CounterStoreError {
  return new CounterStoreError(kindOf(error as Error, isCluster), unusable(error));
}

function kindOf(error: Error, isCluster: boolean): FailureKind {
  const { name, message } = error;
  if (error instanceof NotConnectedError || NOT_SENT.test(message)) {
    return isCluster ? 'failed' : 'noConnection';
  }
  if (name === 'ReplyError') {
    return SPOILT.test(message) ? 'wrongType' : 'failed';
  }
  return SENT_ON.test(message) ? 'failed' : 'outcomeUnknown';
}

/** The error for a caller. */
export function unusable(cause: unknown): Error {
  return new Error(`Redis cannot be used: ${databaseReason(cause)}`, { cause });
}

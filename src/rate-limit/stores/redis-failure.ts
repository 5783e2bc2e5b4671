import { databaseReason } from '../../database/availability.js';
import { CounterStoreError, type FailureKind } from './counter-store.js';

/** Message of ioredis for a call that it did not send. */
const NOT_SENT = /enableOfflineQueue/;
/** Message of ioredis for a call that every node has redirected to another. */
const REDIRECTED = /^Too many Cluster redirections/;
/** Of a server or a script, for a key that is no counter. Old servers put it inside an error of the script. */
const WRONG_TYPE = /WRONGTYPE/;

/** Returns the error for a caller, with what is certain about the outcome. */
export function redisFailure(error: unknown): CounterStoreError {
  return new CounterStoreError(kindOf(error as Error), unusable(error));
}

/** Returns the error for a caller while there is no connection, for this reason. */
export function notConnected(reason: unknown): CounterStoreError {
  return new CounterStoreError('noConnection', unusable(reason));
}

/** Returns null instead when the server replies with an error, by default any. */
export async function nullOnReplyError<T>(reply: Promise<T>, kind?: FailureKind): Promise<T | null> {
  try {
    return await reply;
  } catch (error) {
    if (isReply(error as Error) && (kind === undefined || kindOf(error as Error) === kind)) {
      return null;
    }
    throw error;
  }
}

function unusable(cause: unknown): Error {
  return new Error(`Redis cannot be used: ${databaseReason(cause)}`, { cause });
}

/** A call may have been counted unless the server rejected it or ioredis did not send it. */
function kindOf(error: Error): FailureKind {
  if (isReply(error)) {
    return WRONG_TYPE.test(error.message) ? 'wrongType' : 'failed';
  }
  if (NOT_SENT.test(error.message)) {
    return 'noConnection';
  }
  return REDIRECTED.test(error.message) ? 'failed' : 'outcomeUnknown';
}

const isReply = ({ name }: Error) => name === 'ReplyError';

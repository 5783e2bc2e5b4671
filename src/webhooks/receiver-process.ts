// The process that sends webhooks, so that no receiver can burden the service: neither by what it responds,
// nor by a name whose look-up occupies a thread. It ends with the service.

import { constants, setPriority } from 'node:os';
import { postToReceiver, type Post, type ReceivedResponse } from './post-to-receiver.js';

export interface ReceiverRequest {
  id: number;
  post: Post;
}
/** What it gets for each POST: the response, or why there is no response. */
export type ReceiverReply = { id: number; response: ReceivedResponse } | { id: number; failure: string };

async function send({ id, post }: ReceiverRequest): Promise<void> {
  let reply: ReceiverReply;
  try {
    reply = { id, response: await postToReceiver(post) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    // A name with several addresses fails without a message.
    reply = { id, failure: message || String(code) };
  }
  if (process.connected) {
    process.send?.(reply);
  }
}

process.title = 'animal-store: webhooks';
try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
} catch {
  // A sandbox may deny it.
}
// Ctrl-C and systemd send it their signals too, but the service decides when it ends.
['SIGTERM', 'SIGINT', 'SIGHUP'].forEach((signal) => process.on(signal, () => {}));
process.on('disconnect', () => process.exit());
process.on('message', (request: ReceiverRequest) => void send(request));

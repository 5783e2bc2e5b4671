import { Refusal } from '../dev/refusal.js';

/**
 * Aborted by Ctrl-C or a closed terminal, so that what was started is stopped and removed before the bench
 * ends.
 */
const controller = new AbortController();

export const interruption = controller.signal;

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => controller.abort(new Refusal('Interrupted; --full continues.')));
}

import { Refusal } from './refusal.js';

const controller = new AbortController();

/**
 * Aborted by Ctrl-C or a closed terminal, so that what was started is stopped and removed before the command
 * ends.
 */
export const interruption = controller.signal;

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => controller.abort(new Refusal('Interrupted.')));
}

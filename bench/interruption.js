/** Aborted by Ctrl-C, so that whoever waits ends and puts away what was started. */
const controller = new AbortController();

export const interruption = controller.signal;

for (const name of ['SIGINT', 'SIGTERM']) {
  process.on(name, () => controller.abort(new Error('Interrupted')));
}

import { Logger } from '@nestjs/common';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** One press of Ctrl-C may come twice: from the terminal, and passed on by npm. */
const SAME_PRESS_MS = 500;
const CUT_OFF_EXIT_CODE = 1;

/**
 * Hears from now on that the process is asked to stop. Whatever hangs then, it is gone when the grace is over; and at once when
 * it is asked again.
 *
 * @returns a signal that is aborted when the process is asked for the first time.
 */
export function stopSignal(graceMs: number): AbortSignal {
  const logger = new Logger('Shutdown');
  const stop = new AbortController();
  const cutOff = (reason: string) => {
    logger.error(`Cut off: ${reason}`);
    process.exit(CUT_OFF_EXIT_CODE);
  };
  let askedMs = 0;
  const hear = (signal: NodeJS.Signals) => {
    if (!stop.signal.aborted) {
      askedMs = performance.now();
      process.stdout.write(`Animal Store ends (${signal})\n`);
      setTimeout(
        () => cutOff(`the service did not end within SHUTDOWN_GRACE (${graceMs / 1000} s)`),
        graceMs,
      ).unref();
      stop.abort();
    } else if (performance.now() - askedMs > SAME_PRESS_MS) {
      cutOff(`asked again (${signal}), the service ends at once`);
    }
  };
  for (const signal of SIGNALS) {
    process.on(signal, hear);
  }
  return stop.signal;
}

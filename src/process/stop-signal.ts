import { Logger } from '@nestjs/common';
import { standardError, standardOutput } from './standard-stream.js';

/** A terminal that is closed sends SIGHUP. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** One press of Ctrl-C may cause two signals: one from the terminal, and one that npm forwards. */
const SAME_PRESS_MS = 500;
const FORCED_EXIT_CODE = 1;
/** How often to check that npm still runs. */
const PARENT_CHECK_MS = 500;

/**
 * Returns a signal that the first SIGTERM, SIGINT or SIGHUP aborts. The process exits at a second one, or
 * `graceMs` after the first.
 */
export function stopSignal(graceMs: number): AbortSignal {
  const logger = new Logger('Shutdown');
  const stop = new AbortController();
  const forceExit = (reason: string) => {
    logger.error(`Forced exit: ${reason}`);
    if (standardOutput.hangs || standardError.hangs) {
      process.kill(process.pid, 'SIGKILL');
    }
    process.exit(FORCED_EXIT_CODE);
  };
  let requestedMs = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (!stop.signal.aborted) {
      requestedMs = performance.now();
      standardOutput.write(`Animal Store is shutting down (${signal})\n`);
      setTimeout(
        () => forceExit(`the service did not stop within SHUTDOWN_GRACE (${graceMs / 1000} s)`),
        graceMs,
      ).unref();
      stop.abort();
    } else if (performance.now() - requestedMs > SAME_PRESS_MS) {
      forceExit(`second signal (${signal})`);
    }
  };
  for (const signal of SIGNALS) {
    process.on(signal, onSignal);
  }
  if (process.env['npm_lifecycle_event'] === 'start') {
    stopWithParent(() => onSignal('SIGHUP'), stop.signal);
  }
  return stop.signal;
}

/** Stops the service once npm has ended: npm passes on SIGTERM and SIGINT, but not SIGHUP and SIGKILL. */
function stopWithParent(end: () => void, stopped: AbortSignal): void {
  const parent = process.ppid;
  const check = setInterval(() => process.ppid !== parent && end(), PARENT_CHECK_MS).unref();
  stopped.addEventListener('abort', () => clearInterval(check));
}

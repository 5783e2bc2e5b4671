import { Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { durationText } from '../format/duration';
import { serviceNowMs } from '../session/service-clock';

interface CountdownProps {
  /** The end, in milliseconds since the Unix epoch, by the service's clock. */
  untilMs: number;
  onEnd?: () => void;
}

/**
 * Shows the time until a moment, and calls `onEnd` once it has come and the tab is visible: a hidden one
 * needs nothing new.
 */
export function Countdown({ untilMs, onEnd }: CountdownProps) {
  const [nowMs, setNowMs] = useState(serviceNowMs);
  const end = useRef(onEnd);
  end.current = onEnd;
  const isOver = nowMs >= untilMs;
  useEffect(() => {
    if (isOver) {
      return onceVisible(() => end.current?.());
    }
    const timer = setInterval(() => setNowMs(serviceNowMs()), 1000);
    return () => clearInterval(timer);
  }, [isOver, untilMs]);
  return (
    <Text component="span" inherit fw={600} role="timer">
      {durationText(Math.max(0, untilMs - nowMs))}
    </Text>
  );
}

/** Calls back at once, or as soon as the tab is visible again. Returns a function that gives up. */
function onceVisible(callback: () => void): () => void {
  const check = () => {
    if (!document.hidden) {
      document.removeEventListener('visibilitychange', check);
      callback();
    }
  };
  document.addEventListener('visibilitychange', check);
  check();
  return () => document.removeEventListener('visibilitychange', check);
}

import { Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { durationText } from '../format/duration';

interface CountdownProps {
  /** The end, in milliseconds since the Unix epoch. */
  untilMs: number;
  onEnd?: () => void;
}

/** Shows the time until a moment, and calls `onEnd` once it has come. */
export function Countdown({ untilMs, onEnd }: CountdownProps) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  const end = useRef(onEnd);
  end.current = onEnd;
  const isOver = nowMs >= untilMs;
  useEffect(() => {
    if (isOver) {
      end.current?.();
      return undefined;
    }
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isOver, untilMs]);
  return (
    <Text component="span" inherit fw={600} role="timer">
      {durationText(Math.max(0, untilMs - nowMs))}
    </Text>
  );
}

import { useState } from 'react';

/** Returns a value, or the last one while there is none, such as for a drawer that slides out. */
export function useLastDefined<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value);
  if (value !== undefined && value !== last) {
    setLast(value);
  }
  return value ?? last;
}

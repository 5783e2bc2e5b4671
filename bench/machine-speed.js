const ADDITIONS = 10_000_000;

/** Milliseconds that the same piece of work takes now: on a machine that is left alone, always the same. */
export function timeWork() {
  const startedAt = performance.now();
  let sum = 0;
  for (let number = 0; number < ADDITIONS; number += 1) {
    sum += number;
  }
  const endedAt = performance.now();
  // Looked at, so that it is not optimised away.
  return sum > 0 ? endedAt - startedAt : 0;
}

// Until it is compiled it is slower.
timeWork();

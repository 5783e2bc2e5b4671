// A thread that tells the beat: a timer of the event loop is a millisecond late, and would be measured with the answer.

import { parentPort, workerData } from 'node:worker_threads';

const { startNs, beatNs, beats } = workerData;
const never = new Int32Array(new SharedArrayBuffer(4));

for (let beat = 0; beat < beats; beat += 1) {
  const waitNs = Number(startNs + BigInt(beat) * beatNs - process.hrtime.bigint());
  if (waitNs > 0) {
    Atomics.wait(never, 0, 0, waitNs / 1e6);
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
  parentPort.postMessage(beat);
}

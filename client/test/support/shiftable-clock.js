// Loaded before the service, by `node --import`. Its clock then shows the time that the parent process sets
// by messages.

import { register } from 'node:module';

globalThis.clockOffsetMs = 0;
process.on('message', (offsetMs) => {
  globalThis.clockOffsetMs = offsetMs;
  process.send(offsetMs);
});
register('./shiftable-clock-loader.js', import.meta.url);

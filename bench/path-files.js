import path from 'node:path';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'undici';

const ROOT = path.join(import.meta.dirname, '..');
const WARM_UP_REQUESTS = 50;
const REQUESTS = 5;

/**
 * Returns the files of `src` with a function that runs during one warm `GET /v1/pets`, by V8's precise
 * coverage.
 *
 * @param stage
 * @param service the contestant.
 */
export async function listPathFiles(stage, service) {
  const server = await stage.launchAlone({ ...service, program: ['--inspect=0', ...service.program] });
  try {
    const inspector = await connect(/ws:\S+/.exec(server.stderr())[0]);
    const request = async () => {
      const headers = { authorization: `Bearer ${stage.keys.load[0]}` };
      const response = await fetch(`${server.url}/v1/pets`, { headers });
      await response.text();
    };
    await inspector.send('Profiler.enable');
    await inspector.send('Profiler.startPreciseCoverage', { callCount: true });
    for (let sent = 0; sent < WARM_UP_REQUESTS; sent += 1) {
      await request();
    }
    let files;
    for (let sent = 0; sent < REQUESTS; sent += 1) {
      await inspector.send('Profiler.takePreciseCoverage');
      await request();
      const { result } = await inspector.send('Profiler.takePreciseCoverage');
      const called = new Set(result.filter(isCalled).flatMap(({ url }) => findSources(url)));
      // What runs in only some of the intervals belongs to timers.
      files = files ? files.filter((file) => called.has(file)) : [...called];
    }
    inspector.close();
    return files.toSorted();
  } finally {
    await server.stop();
  }
}

const isCalled = ({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0));

/** Returns the source of a compiled file, or nothing when it is not of `src`. */
function findSources(url) {
  const dist = path.join(ROOT, 'dist', path.sep);
  if (!url.startsWith('file:') || !fileURLToPath(url).startsWith(dist)) {
    return [];
  }
  const file = fileURLToPath(url);
  const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  return sources.map((source) => path.relative(ROOT, path.resolve(path.dirname(file), source)));
}

async function connect(url) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', ({ message }) => reject(new Error(message)));
  });
  const waiting = new Map();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(data);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let id = 0;
  return {
    send: (method, params = {}) =>
      new Promise((resolve) => {
        id += 1;
        waiting.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params }));
      }),
    close: () => socket.close(),
  };
}

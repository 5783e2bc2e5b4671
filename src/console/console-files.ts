import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The build of the package `console`, in the sources and in the image alike. */
const BUILD = new URL('../../console/dist/', import.meta.url);

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'application/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** A file of the console. Its name contains a hash of its content. */
interface ConsoleFile {
  /** Such as `assets/index-C5kBf2aQ.js`. */
  name: string;
  type: string;
  content: Buffer;
  /** The content compressed by Brotli, if that is smaller. */
  brotli: Buffer | null;
}

/** Returns the page and the files that it loads. */
export function readConsoleFiles(): { page: string; files: ConsoleFile[] } {
  const names = readdirSync(new URL('assets/', BUILD)).map((name) => `assets/${name}`);
  const compressed = new Set(names.filter((name) => name.endsWith('.br')));
  const files = names
    .filter((name) => !compressed.has(name))
    .map((name) => ({
      name,
      type: TYPES[path.extname(name)] ?? 'application/octet-stream',
      content: read(name),
      brotli: compressed.has(`${name}.br`) ? read(`${name}.br`) : null,
    }));
  return { page: read('index.html').toString(), files };
}

function read(name: string): Buffer {
  return readFileSync(new URL(name, BUILD));
}

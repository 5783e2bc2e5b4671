import { readFileSync } from 'node:fs';
import path from 'node:path';

const DOCS = path.resolve(import.meta.dirname, '..', '..', 'docs');

/**
 * Returns the first block of commands or settings under a heading of a document, so that a test runs what the
 * document shows.
 *
 * @throws Error when there is none.
 */
export function documented(document: string, heading: string): string {
  const text = readFileSync(path.join(DOCS, document), 'utf8');
  const start = new RegExp(`^#+ ${heading}$`, 'm').exec(text)?.index ?? text.length;
  // A block in a list is indented.
  const [, indent = '', block] = /^( *)```\w+\n([^]*?)^\1```$/m.exec(text.slice(start)) ?? [];
  if (block === undefined) {
    throw new Error(`There is no block of commands under "${heading}" in docs/${document}`);
  }
  return block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

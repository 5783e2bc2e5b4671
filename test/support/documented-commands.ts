import { readFileSync } from 'node:fs';
import path from 'node:path';

const DOCS = path.resolve(import.meta.dirname, '..', '..', 'docs');

/**
 * Returns the first block of commands or settings under a heading of a document, so that a test runs what the
 * document shows.
 *
 * @param language of the block, if not the first of any language.
 * @throws Error when there is none.
 */
export function documented(document: string, heading: string, language = String.raw`\w+`): string {
  const text = readFileSync(path.join(DOCS, document), 'utf8');
  const start = new RegExp(`^#+ ${heading}$`, 'm').exec(text)?.index ?? text.length;
  // A block in a list is indented.
  const block = new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^\\1\`\`\`$`, 'm').exec(text.slice(start));
  const [, indent = '', commands] = block ?? [];
  if (commands === undefined) {
    throw new Error(`There is no block of commands under "${heading}" in docs/${document}`);
  }
  return commands.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

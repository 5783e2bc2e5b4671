// Puts measured figures into a document: their circumstances, a table, and their place.

import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { format, resolveConfig } from 'prettier';
import { Refusal } from './refusal.js';

/** Returns the name of the processor and its number of cores. */
export const describeMachine = (): string => `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores`;

/** Returns the commit of a folder, marked if these paths differ from it. */
export function readCommit(folder: string, paths: string[]): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const isChanged = git('status', '--porcelain', '--', ...paths) !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? '-changed' : ''}`;
  } catch {
    return 'unknown';
  }
}

/** A table in Markdown; a `>` before the title of a column aligns it to the right. */
export const table = (head: string[], rows: string[][]): string =>
  [
    head.map((cell) => cell.replace(/^>/, '')),
    head.map((cell) => (cell.startsWith('>') ? '--:' : '---')),
    ...rows,
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

/** Formats Markdown. */
export const formatMarkdown = (text: string): Promise<string> => format(text, { parser: 'markdown' });

/**
 * Returns the text before and after the marks `<!-- name -->` and `<!-- /name -->` of a document.
 *
 * @throws Refusal when the document is missing or has no marks.
 */
export async function splitAtMarks(document: string, name: string): Promise<[string, string]> {
  const text = await readFile(document, 'utf8').catch(({ message }: Error) => {
    throw new Refusal(`--into: ${message}`);
  });
  const [before, rest] = text.split(`<!-- ${name} -->`);
  const after = rest?.split(`<!-- /${name} -->`)[1];
  if (before === undefined || after === undefined) {
    throw new Refusal(`--into: ${document} has no <!-- ${name} --> followed by <!-- /${name} -->.`);
  }
  return [before, after];
}

/** Puts Markdown between the marks of a document. */
export async function writeBetweenMarks(document: string, name: string, text: string): Promise<void> {
  const [before, after] = await splitAtMarks(document, name);
  const config = await resolveConfig(document);
  const replaced = `${before}<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->${after}`;
  await writeFile(document, await format(replaced, { ...config, filepath: document }));
}

// Where a report goes: to standard output, its figures to results/, and where one is named, into a document.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { Refusal } from './refusal.js';

const RESULTS_DIR = path.join(import.meta.dirname, 'results');

/**
 * @param {string} name of the report, and of the marks that it goes between.
 * @param {{ text: string, figures: object }} report
 * @param {string | undefined} document
 * @returns the file that has the figures, from here.
 */
export async function publish(name, { text, figures }, document) {
  process.stdout.write(text);
  await mkdir(RESULTS_DIR, { recursive: true });
  const instant = new Date().toISOString().replace(/\..*/, '').replaceAll(':', '-');
  const file = path.join(RESULTS_DIR, `${name}-${instant}.json`);
  await writeFile(file, `${JSON.stringify(figures, null, 2)}\n`);
  if (document !== undefined) {
    const { before, after } = await splitAtMarks(document, name);
    const config = await resolveConfig(document);
    const whole = await format(`${before}\n\n${text}\n${after}`, { ...config, filepath: document });
    await writeFile(document, whole);
  }
  return path.relative(process.cwd(), file);
}

/**
 * A document without what stands between `<!-- name -->` and `<!-- /name -->`; the marks stay. Worth asking for before anything
 * is measured, as that takes long.
 *
 * @throws Refusal
 */
export async function splitAtMarks(document, name) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const text = await readFile(document, 'utf8').catch((error) => {
    throw new Refusal(`--into: ${error.message}.`);
  });
  const beginAt = text.indexOf(begin);
  const endAt = text.indexOf(end, beginAt);
  if (beginAt < 0 || endAt < 0) {
    throw new Refusal(`--into: ${document} has no ${begin} with ${end} after it.`);
  }
  return { before: text.slice(0, beginAt + begin.length), after: text.slice(endAt) };
}

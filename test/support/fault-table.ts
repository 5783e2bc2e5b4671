import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Course } from './faults.js';

const execute = promisify(execFile);
const ROOT = path.join(__dirname, '..', '..');

const count = (number: number) => number.toLocaleString('en');
const milliseconds = (number: number) => `${count(Math.round(number))} ms`;
const unlessNull = (number: number | null) => (number === null ? '' : count(number));

/** The columns. One that is empty for all faults is left out. */
const COLUMNS: readonly [head: string, cell: (course: Course) => string][] = [
  ['fault', ({ name }) => name],
  ['served', ({ served }) => count(served)],
  ['of these counted locally', ({ countedLocally }) => count(countedLocally)],
  ['503 or 409', ({ failedResponses }) => count(failedResponses.length)],
  ['no response', ({ withoutResponse }) => count(withoutResponse)],
  ['longest response', ({ longestMs }) => milliseconds(longestMs)],
  ['not ready after', ({ unreadyMs }) => (unreadyMs === null ? '' : milliseconds(unreadyMs))],
  [
    'ready again after',
    ({ unreadyMs, readyAgainMs }) => (unreadyMs === null ? '' : milliseconds(readyAgainMs)),
  ],
  ['last failure after', ({ servedAgainMs }) => milliseconds(servedAgainMs)],
  ['last counted locally after', ({ countedAgainMs }) => milliseconds(countedAgainMs)],
  ['served, never counted', ({ uncounted }) => unlessNull(uncounted)],
  ['201 sent', ({ load }) => count(load.acknowledged.size)],
  ['of these lost', ({ lost }) => unlessNull(lost)],
];

/**
 * Writes a table of the faults to standard output and, if `FAULTS_INTO` names a document, between the marks of this name in it.
 */
export async function publishFaults(
  name: string,
  courses: readonly Course[],
  program: string,
): Promise<void> {
  const columns = COLUMNS.filter(([, cell]) => courses.some((course) => cell(course) !== ''));
  const lines = [
    columns.map(([head]) => head),
    columns.map((_column, index) => (index === 0 ? '---' : '---:')),
    ...courses.map((course) => columns.map(([, cell]) => cell(course))),
  ];
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  process.stdout.write(`${table}\n`);
  const document = process.env['FAULTS_INTO'];
  if (document !== undefined && document !== '') {
    await write(document, name, `${await circumstances(program)}\n\n${table}`);
  }
}

async function circumstances(program: string): Promise<string> {
  const { stdout } = await execute('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT });
  const [date] = new Date().toISOString().split('T');
  const cores = cpus();
  return `Measured on ${date}, commit ${stdout.trim()}: ${cores[0]?.model}, ${cores.length} cores; Node ${process.version}; ${program}.`;
}

/** @throws Error when the document has no such marks. */
async function write(document: string, name: string, text: string): Promise<void> {
  const file = path.resolve(ROOT, document);
  const whole = await readFile(file, 'utf8');
  const [before, rest] = whole.split(`<!-- ${name} -->`);
  const after = rest?.split(`<!-- /${name} -->`)[1];
  if (after === undefined) {
    throw new Error(`${document} has no <!-- ${name} --> with <!-- /${name} --> after it`);
  }
  await writeFile(file, `${before}<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->${after}`);
  await execute(process.execPath, [
    path.join(ROOT, 'node_modules/prettier/bin/prettier.cjs'),
    '--write',
    file,
  ]);
}

// A part of `npm run lint`, because oxlint neither limits the length of lines nor reads SQL: prints each line
// that is longer than the `max_line_length` of .editorconfig, and exits with 1 if there is one.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
const CHECKED = /\.([cm]?js|tsx?|sql|lua|prisma|yml)$/;
/** By `npm run documents`, `npx prisma migrate diff` and pg_dump. */
const GENERATED = [
  /^client\/src\/(store|admin)-(schema|resources)\.ts$/,
  /^(prisma\/migrations|test\/database\/earlier-databases)\//,
];
/** Cannot be broken: a regular expression, and an image with its digest. */
const UNBREAKABLE = /^\s*\/[^/*].*\/[a-z]*,?$|^\s*image: \S+@sha256:\w+$/;

const editorConfig = readFileSync(path.join(ROOT, '.editorconfig'), 'utf8');
const maxLength = Number(/^max_line_length = (\d+)$/m.exec(editorConfig)[1]);
const files = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
).split('\0');

const isGenerated = (file) => GENERATED.some((names) => names.test(file));
const tooLong = files
  .filter((file) => CHECKED.test(file) && !isGenerated(file) && existsSync(path.join(ROOT, file)))
  .flatMap((file) =>
    readFileSync(path.join(ROOT, file), 'utf8')
      .split('\n')
      .map((line, index) => ({ line, position: `${file}:${index + 1}` }))
      .filter(({ line }) => line.length > maxLength && !UNBREAKABLE.test(line)),
  );
for (const { line, position } of tooLong) {
  process.stdout.write(`${position}: ${line.length} characters, at most ${maxLength} are allowed\n`);
}
process.exitCode = tooLong.length > 0 ? 1 : 0;

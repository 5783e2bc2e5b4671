import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const ROOT = path.join(__dirname, '..');
const DOCUMENT = readFileSync(path.join(ROOT, 'docs', 'security.md'), 'utf8');

/** The lines of the table, without its head. */
const rows = DOCUMENT.split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, threat = '', , tests = '']): [string, string] => [threat, tests]);

/** Returns the files and titles in a cell; a title without a file belongs to the file before it. */
function testsIn(cell: string): { file: string; name: string }[] {
  let file = '';
  return [...cell.matchAll(/(?:`(?<file>[^`]+)` )?"(?<name>[^"]+)"/g)].map(({ groups }) => {
    file = groups?.['file'] ?? file;
    return { file, name: groups?.['name'] ?? '' };
  });
}

it('docs/security.md lists more than twenty threats', () => {
  expect(rows.length).toBeGreaterThan(20);
});

it.each(rows)('docs/security.md names an existing test: %s', (_threat, cell) => {
  const tests = testsIn(cell);
  expect(tests.length).toBeGreaterThan(0);
  // The cell has no other text.
  expect(cell.replaceAll(/(`[^`]+` )?"[^"]+"(; )?/g, '')).toBe('');
  for (const { file, name } of tests) {
    expect([file, /\.(full-)?spec\.ts$/.test(file) && existsSync(path.join(ROOT, file))]).toEqual([
      file,
      true,
    ]);
    expect(titlesIn(file)).toContain(name);
  }
});

/** Returns the titles of all tests and groups in a file. */
function titlesIn(file: string): string[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(path.join(ROOT, file), 'utf8'),
    ts.ScriptTarget.Latest,
  );
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(it|test|describe)/.test(node.expression.getText(source))) {
      const [name, body] = node.arguments;
      if (name !== undefined && ts.isStringLiteralLike(name) && body !== undefined) {
        names.push(name.text);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

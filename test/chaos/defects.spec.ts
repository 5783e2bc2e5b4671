import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';

const ROOT = path.join(__dirname, '..', '..');
const DEFECTS = path.join(ROOT, 'chaos', 'defects');

describe('The defects that the verifier must find', () => {
  const names = readdirSync(DEFECTS);
  let copy: string;
  beforeEach(() => {
    copy = mkdtempSync(path.join(tmpdir(), 'defects-'));
  });
  afterEach(() => rmSync(copy, { recursive: true }));

  it('are twelve', () => {
    expect(names).toHaveLength(12);
  });

  it.each(names)(
    'include %s, which names its claim, applies to the code, and leaves it well-formed',
    (name) => {
      const patch = path.join(DEFECTS, name);
      const text = readFileSync(patch, 'utf8');
      expect(text).toMatch(/^.+\nClaim \([a-g]\) must find it\.\n\ndiff /);
      const files = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file]) => file as string);
      for (const file of files) {
        mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
        cpSync(path.join(ROOT, file), path.join(copy, file));
      }

      execFileSync('git', ['apply', patch], { cwd: copy, stdio: 'pipe' });

      for (const file of files) {
        const after = readFileSync(path.join(copy, file), 'utf8');
        expect(after).not.toBe(readFileSync(path.join(ROOT, file), 'utf8'));
        const { diagnostics } = ts.transpileModule(file.endsWith('.ts') ? after : '', {
          reportDiagnostics: true,
        });
        expect(diagnostics).toStrictEqual([]);
      }
    },
  );
});

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadEnvFile } from './env-file.js';

describe('loadEnvFile', () => {
  let folder: string;
  let file: string;
  let environment: NodeJS.ProcessEnv;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'animal-store-env-'));
    file = path.join(folder, '.env');
    environment = { ...process.env };
  });
  afterEach(() => {
    process.env = environment;
    rmSync(folder, { recursive: true });
  });

  /** Loads the file, and returns its settings and faults. */
  function load() {
    const faults: string[] = [];
    loadEnvFile(file, faults);
    const { TEST_FIRST, TEST_SECOND } = process.env;
    return { faults, first: TEST_FIRST, second: TEST_SECOND };
  }

  const TEXT = 'TEST_FIRST=a=b\nTEST_SECOND="c d"\n';
  const bigEndian = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16();

  it.each([
    ['in UTF-8', TEXT],
    ['with a byte order mark', `\uFEFF${TEXT}`],
    ['with line breaks of Windows', TEXT.replaceAll('\n', '\r\n')],
    ['as PowerShell writes it, in UTF-16', Buffer.from(`\uFEFF${TEXT.replaceAll('\n', '\r\n')}`, 'utf16le')],
    ['in UTF-16 with the high byte first', bigEndian(TEXT)],
    ['with export, once before two spaces', `export TEST_FIRST=a=b\nexport  TEST_SECOND='c d' # comment\n`],
  ])('sets every variable of a file %s', (_how, content) => {
    writeFileSync(file, content);
    expect(load()).toEqual({ faults: [], first: 'a=b', second: 'c d' });
  });

  it('keeps variables that are set, also to nothing', () => {
    Object.assign(process.env, { TEST_FIRST: 'kept', TEST_SECOND: '' });
    writeFileSync(file, TEXT);
    expect(load()).toEqual({ faults: [], first: 'kept', second: '' });
  });

  it('sets nothing without a file', () => {
    expect(load()).toEqual({ faults: [] });
  });

  it.each<[string, string, () => void]>([
    ['a folder', 'it is a folder', () => mkdirSync(file)],
    ['a link to a missing file', 'it does not exist', () => symlinkSync('missing', file)],
    ['a link to itself', 'ELOOP: too many symbolic links', () => symlinkSync(file, file)],
    [
      'a file in Latin-1',
      'it is neither UTF-8 nor UTF-16',
      () => writeFileSync(file, 'TEST_FIRST=ü', 'latin1'),
    ],
    [
      'a file in UTF-16 without its mark',
      'it is neither UTF-8 nor UTF-16',
      () => writeFileSync(file, TEXT, 'utf16le'),
    ],
  ])('reports %s', (_what, reason, create) => {
    create();
    expect(load()).toEqual({ faults: [expect.stringContaining(`.env cannot be read: ${reason}`)] });
  });
});

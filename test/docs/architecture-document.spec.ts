import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const SRC = path.resolve(import.meta.dirname, '..', '..', 'src');
const DOCUMENT = readFileSync(path.resolve(SRC, '..', 'docs', 'architecture.md'), 'utf8');
/** What every module may import. */
const SHARED = /\.decorator\.ts$/;

/** In the diagram: the folders with an operation that `@Creates()` a record. */
const RESOURCES = 'resources';

const [, diagram = ''] = /```mermaid\n([^]*?)```/.exec(DOCUMENT) ?? [];
const arrows = diagram.split('\n').flatMap((line) => {
  const steps = line.split('-->').map((step) => step.split('&').map((name) => name.trim()));
  return steps.slice(1).flatMap((targets, index) => {
    const sources = steps[index] ?? [];
    return sources.flatMap((source) => targets.map((target): [string, string] => [source, target]));
  });
});
const drawn = new Set(arrows.flat());

function reachableFrom(start: string, reached = new Set<string>()): Set<string> {
  for (const [source, target] of arrows) {
    if (source === start && !reached.has(target)) {
      reachableFrom(target, reached.add(target));
    }
  }
  return reached;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /(?<!\.spec)\.ts$/.test(file),
);
const isResource = (folder: string) =>
  files.some(
    (file) =>
      file.startsWith(`${folder}/`) && readFileSync(path.join(SRC, file), 'utf8').includes('@Creates('),
  );
const folders = new Set(files.map((file) => /^[\w-]+/.exec(file)?.[0] ?? ''));
const names = new Map([...folders].map((folder) => [folder, isResource(folder) ? RESOURCES : folder]));

/** Returns the folder in `src` that a file is in, or the name of a file beside the folders, such as `app`. */
const moduleName = (file: string): string => names.get(/^[\w-]+/.exec(file)?.[0] ?? '') ?? '';

const imports = files.flatMap((file) => {
  const text = readFileSync(path.join(SRC, file), 'utf8');
  const targets = [...text.matchAll(/(?:from|import\(|import) ?'(\.[^']+)\.js'/g)];
  return targets.map(([, target = '']) => ({ file, target: path.join(file, '..', `${target}.ts`) }));
});

describe('the diagram in docs/architecture.md', () => {
  it('names only modules of src', () => {
    expect([...drawn].filter((name) => ![...names.values()].includes(name))).toStrictEqual([]);
  });

  it('has no cycle', () => {
    expect([...drawn].filter((name) => reachableFrom(name).has(name))).toStrictEqual([]);
  });

  it('has a path of arrows for every import between the modules that it names', () => {
    expect(imports.length).toBeGreaterThan(500);
    const between = imports.filter(({ file, target }) => {
      const [from, to] = [moduleName(file), moduleName(target)];
      return from !== to && drawn.has(from) && drawn.has(to) && !SHARED.test(target);
    });
    expect(
      between.filter(({ file, target }) => !reachableFrom(moduleName(file)).has(moduleName(target))),
    ).toStrictEqual([]);
  });
});

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import * as client from 'animal-store-client';
import ts from 'typescript';

const DECLARATIONS = new URL('../dist/index.d.ts', import.meta.url).pathname;
const store = new client.AnimalStore({ baseUrl: 'https://api.animal-store.example/v1', apiKey: 'key' });

describe('the package', () => {
  it('exports the names that exports.txt promises, and no others', async () => {
    const promised = await readFile(new URL('exports.txt', import.meta.url), 'utf8');
    const values = Object.keys(client);
    const types = typeNames().filter((name) => !values.includes(name));
    assert.equal(
      text({ Values: values, Types: types, Methods: methodNames(store, 'store') }),
      promised,
      'Edit client/test/exports.txt only for names that stay, and remove none within a major version.',
    );
  });
});

const text = (lists) =>
  Object.entries(lists)
    .map(([title, names]) => `# ${title}\n${names.toSorted().join('\n')}\n`)
    .join('\n');

function typeNames() {
  const program = ts.createProgram([DECLARATIONS], { module: ts.ModuleKind.NodeNext, skipLibCheck: true });
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(DECLARATIONS));
  return checker.getExportsOfModule(module).map(({ name }) => name);
}

/** Returns the methods of a client and of its resources. */
function methodNames(owner, path) {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(owner)).filter(
    (name) => name !== 'constructor',
  );
  const resources = Object.entries(owner).filter(([name]) => name !== 'connection');
  return [
    ...own.map((name) => `${path}.${name}`),
    ...resources.flatMap(([name, resource]) => methodNames(resource, `${path}.${name}`)),
  ];
}

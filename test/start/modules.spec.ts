import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ApiDocument } from '../support/http/document.js';

const list = (folder: string, names: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => names.test(name))
    .map((name) => ({ name, text: readFileSync(path.join(folder, name), 'utf8') }));

const sources = list('src', /(?<!\.spec)\.ts$/);
const isImported = (name: string) =>
  sources.some(({ text }) => text.includes(`/${path.basename(name, '.ts')}.js';`));

/** Returns the class that a file exports, such as `PetsModule`. */
const findClass = (text: string) => /^export class (\w+)/m.exec(text)?.[1];

describe('src', () => {
  it('has no module that is missing in the application', () => {
    const missing = sources.filter(({ name }) => name.endsWith('.module.ts') && !isImported(name));
    const lines = missing
      .filter(({ name }) => name !== 'app.module.ts')
      .map(({ text }) => `imports: [${findClass(text)}], in src/app.module.ts`);
    expect(lines).toStrictEqual([]);
  });

  it('has no controller that is missing in a module', () => {
    const missing = sources.filter(({ name }) => name.endsWith('.controller.ts') && !isImported(name));
    const lines = missing.map(
      ({ name, text }) => `controllers: [${findClass(text)}], in the module of src/${path.dirname(name)}`,
    );
    expect(lines).toStrictEqual([]);
  });

  it('has no module with a controller but without a spec of its own', () => {
    const controllers = sources.filter(({ name }) => name.endsWith('.controller.ts'));
    const modules = new Set(controllers.map(({ name }) => name.split(path.sep)[0] ?? ''));
    const specs = list('test', /\.spec\.ts$/);
    const untested = [...modules].filter(
      (module) => !specs.some(({ name }) => path.dirname(name) === module),
    );
    expect(untested.map((module) => `test/${module}/${module}.spec.ts`)).toStrictEqual([]);
  });

  it('has no controller whose paths no spec names', () => {
    const specs = list('test', /\.spec\.ts$/).map(({ text }) => text);
    const lists = new Set(new ApiDocument().operations.map((operation) => operation.path.split('/{')[0]));
    const untested = [...lists].filter((each = '') => !specs.some((text) => text.includes(each)));
    expect(untested.map((each) => `a test/…/*.spec.ts that calls ${each}`)).toStrictEqual([]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '..', '..');
const IMPORT = /^(?:import|export) (?!type\b)[^;]*? from '(\.[^']+)';/gm;

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** Returns the files of the service that files import by `import`, not `import type`, and what those do. */
function importedSources(files: string[]): string[] {
  const imported = files.flatMap((file) =>
    [...read(file).matchAll(IMPORT)].map(([, name = '']) => path.join(path.dirname(file), name)),
  );
  const sources = [...new Set(imported.filter((file) => file.startsWith('src/')))].map(
    (file) => `${file.replace(/\.js$/, '')}.ts`,
  );
  return sources.length === 0 ? [] : [...new Set([...sources, ...importedSources(sources)])];
}

describe('the build of the console', () => {
  it('has each file of the service that the console imports, in the image and as an input', () => {
    const files = readdirSync(path.join(ROOT, 'console/src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.spec)\.tsx?$/.test(file))
      .map((file) => `console/src/${file}`);
    const sources = importedSources(files).toSorted();
    expect(sources).toContain('src/auth/rules/scope.ts');

    const [beforeBuild = ''] = read('Dockerfile').split('RUN npm run build:console');
    const copied = [...beforeBuild.matchAll(/^COPY (src\/\S+) (\S+)$/gm)];
    expect(copied.map(([, source = '']) => source).toSorted()).toEqual(sources);
    expect(copied.map(([, , folder]) => folder)).toEqual(
      copied.map(([, source = '']) => `${path.dirname(source)}/`),
    );
    const { files: inputs } = JSON.parse(read('package.json')).wireit['build:console'];
    expect(inputs.filter((file: string) => file.startsWith('src/')).toSorted()).toEqual(sources);
  });
});

// Writes `dist` from `build`: the service's own modules unchanged, and the packages that they import as few
// files in `dist/packages`, because a process would spend half of its start on loading their modules.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = path.join(import.meta.dirname, '..');
const BUILD = path.join(ROOT, 'build');
const DIST = path.join(ROOT, 'dist');
/** What a browser loads. */
const ASSETS = path.join('openapi', 'pages', 'reference', path.sep);
const { devDependencies, optionalDependencies } = JSON.parse(
  readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
);
/** Production may lack these. */
const OPTIONAL = Object.keys({ ...devDependencies, ...optionalDependencies });
const isOptional = (id) => OPTIONAL.some((name) => id === name || id.startsWith(`${name}/`));

const isModule = (file) => file.endsWith('.js') && !file.startsWith(ASSETS);

const files = readdirSync(BUILD, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => path.relative(BUILD, path.join(parentPath, name)))
  .filter((file) => !/\.map$|^\.tsbuildinfo$/.test(file));

const bundle = await rolldown({
  cwd: ROOT,
  input: Object.fromEntries(
    files
      .filter(isModule)
      .map((file) => [file.replace(/\.js$/, '').replaceAll(path.sep, '/'), path.join(BUILD, file)]),
  ),
  platform: 'node',
  treeshake: false,
  plugins: [
    {
      name: 'own-modules',
      // They stay where they are beside each other, because some read a file beside them.
      resolveId: (id, importer) =>
        importer?.startsWith(BUILD) && (id.startsWith('.') || isOptional(id)) ? { id, external: true } : null,
      load: (id) =>
        id.startsWith(BUILD)
          ? { code: readFileSync(id, 'utf8'), map: readFileSync(`${id}.map`, 'utf8') }
          : null,
    },
  ],
  onLog(level, { code, id = '', message }) {
    // Packages try to load others that are not installed, which fails when they do.
    const isOfPackage = code === 'UNRESOLVED_IMPORT' && id.includes('node_modules');
    if (level === 'warn' && !isOfPackage) {
      throw new Error(message);
    }
  },
});
const { output } = await bundle.generate({
  dir: DIST,
  format: 'esm',
  // By default it removes calls whose result is unused, such as one of `decodeURIComponent`, which may throw.
  minify: false,
  sourcemap: 'hidden',
  entryFileNames: '[name].js',
  chunkFileNames: 'packages/[name].js',
  codeSplitting: { groups: [{ name: packageName, debugName: 'packages' }] },
});

rmSync(DIST, { recursive: true, force: true });
files
  .filter((file) => !isModule(file))
  .forEach((file) => cpSync(path.join(BUILD, file), path.join(DIST, file)));
for (const chunk of output.filter(({ type }) => type === 'chunk')) {
  const file = path.join(DIST, chunk.fileName);
  mkdirSync(path.dirname(file), { recursive: true });
  // Node would read the maps of packages at each start.
  const map = chunk.isEntry ? chunk.map : null;
  const code = chunk.code + (map ? `//# sourceMappingURL=${path.basename(file)}.map\n` : '');
  // `animal-store` is a program.
  writeFileSync(file, code, { mode: code.startsWith('#!') ? 0o755 : 0o644 });
  if (map) {
    writeFileSync(`${file}.map`, map.toString());
  }
}

/** Returns the name of the package that has a module; null for the service's own. */
function packageName(id) {
  const [, name] = /^.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)/.exec(id) ?? [];
  return name?.replace('@', '').replaceAll(/[/\\]/g, '-') ?? null;
}

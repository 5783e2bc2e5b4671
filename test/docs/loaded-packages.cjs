/**
 * Required by a process before all else: when that ends, it writes the names of the packages that it has
 * loaded.
 */
const { writeFileSync } = require('node:fs');

process.once('exit', () => {
  const names = Object.keys(require.cache).map(
    (file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1],
  );
  writeFileSync(process.env.LOADED_PACKAGES, JSON.stringify([...new Set(names)].filter(Boolean)));
});

const REPLACEMENTS = {
  'storeOffsetMs = 0;': 'get storeOffsetMs() { return globalThis.clockOffsetMs; }',
  'return Date.now();': 'return Date.now() + globalThis.clockOffsetMs;',
};

/** Replaces the fixed times in the clock of the service. */
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!url.endsWith('/dist/settings/clock.js')) {
    return loaded;
  }
  let source = String(loaded.source);
  for (const [fixed, shiftable] of Object.entries(REPLACEMENTS)) {
    if (!source.includes(fixed)) {
      throw new Error(`${url} has no ${fixed}`);
    }
    source = source.replace(fixed, shiftable);
  }
  return { ...loaded, source };
}

// `npx prisma db seed` does what `animal-store seed` does, by the built service: Node 20 reads no TypeScript
// of its own.
process.argv.splice(2, 0, 'seed');
await import(new URL('../dist/cli/admin.js', import.meta.url).href);

// `npx prisma db seed` does what `animal-store seed` does, by the built service: Node 20 reads no TypeScript
// of its own.
await import('#seed');

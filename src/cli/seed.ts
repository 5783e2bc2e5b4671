import { seedCommand } from './seed.command.js';

// Runs for `npx prisma db seed`, which calls prisma/seed.ts.
await seedCommand.parseAsync();

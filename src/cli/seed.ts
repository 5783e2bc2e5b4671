import { seedCommand } from './seed.command.js';

// `npx prisma db seed`, by way of prisma/seed.ts.
await seedCommand().parseAsync();

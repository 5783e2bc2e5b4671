import { seedCommand } from './seed.command.js';

// `npx prisma db seed`
await seedCommand().parseAsync();

// rate-limiter-flexible in PostgreSQL by Prisma, as in its wiki.

import { PrismaPg } from '@prisma/adapter-pg';
import { RateLimiterPrisma } from 'rate-limiter-flexible';
import { OPTIONS, serve } from './flexible-server.js';
import { PrismaClient } from './generated/client.js';

const adapter = new PrismaPg({ connectionString: process.env.STORE_URL });
serve(new RateLimiterPrisma({ ...OPTIONS, storeClient: new PrismaClient({ adapter }) }));

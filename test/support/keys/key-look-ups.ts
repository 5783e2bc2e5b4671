import { PrismaService } from '../../../src/database/access/prisma.service.js';
import type { TestApplication } from '../service/application.js';

/** Returns a function that returns how often the service has queried the database for keys since then. */
export function countKeyLookUps({ app }: TestApplication): () => number {
  const statements = jest.spyOn(app.get(PrismaService).sql, 'query');
  return () => statements.mock.calls.filter(([{ name }]) => name === 'find-keys').length;
}

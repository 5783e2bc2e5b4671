import { QueryRunner } from '../../src/database/query-runner.js';
import type { TestApplication } from './application.js';

/** How often this service has asked the database for keys since this was called. */
export function countKeyLookUps({ app }: TestApplication): () => number {
  const statements = jest.spyOn(app.get(QueryRunner), 'run');
  return () => statements.mock.calls.filter(([{ name }]) => name === 'find-keys').length;
}

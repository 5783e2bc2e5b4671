import { isOneTransaction } from '../../prisma/migration-script.mjs';

describe('isOneTransaction', () => {
  it.each([
    'BEGIN; UPDATE t SET n = 1; COMMIT;',
    'start transaction; SELECT 1; end',
    'SELECT 1;\n-- Now.\n/* All of it. */ COMMIT;',
    "SELECT '';COMMIT AND CHAIN",
    'SELECT 1; ROLLBACK',
    'SELECT 1; abort;',
    "PREPARE TRANSACTION 'a'",
    'CREATE INDEX CONCURRENTLY i ON t (n)',
  ])('returns false for %j', (sql) => {
    expect(isOneTransaction(sql)).toBe(false);
  });

  it.each([
    'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := 1; COMMIT; END $$;',
    'DO $body$ BEGIN; SELECT $$;$$; END; $body$',
    'SELECT CASE WHEN n = 1 THEN 2 END FROM t; UPDATE t SET begin = 1',
    "INSERT INTO t VALUES ('it''s; COMMIT; ')",
    "SELECT E'it\\'s; COMMIT; '",
    'ALTER TABLE t ADD COLUMN "a; COMMIT; " TEXT',
    '-- BEGIN;\n/* a; COMMIT; */ SELECT 1; -- COMMIT;',
    'ending();',
  ])('returns true for %j', (sql) => {
    expect(isOneTransaction(sql)).toBe(true);
  });
});

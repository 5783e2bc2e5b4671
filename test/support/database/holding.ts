import pg from 'pg';

/** Begins a transaction with these statements, and keeps it open until `letGo`. */
export async function hold(url: string, ...statements: string[]): Promise<{ letGo(): Promise<void> }> {
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  for (const statement of ['BEGIN', ...statements]) {
    await holder.query(statement);
  }
  return {
    letGo: async () => {
      await holder.query('COMMIT');
      await holder.end();
    },
  };
}

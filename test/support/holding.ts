import pg from 'pg';

/** Holds a transaction open, begun by these statements, until it is let go. */
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

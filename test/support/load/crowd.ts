import pg from 'pg';

/** Other clients of a server, which take connections and keep them. */
export class Crowd {
  private readonly clients: pg.Client[] = [];

  constructor(private readonly url: string) {}

  get size(): number {
    return this.clients.length;
  }

  /** Takes all remaining connections. */
  async fill(): Promise<void> {
    while (await this.take()) {
      // There may be another.
    }
  }

  async leave(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client.end()));
  }

  /** Returns whether a connection was free. */
  private async take(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url, application_name: 'crowd' });
    try {
      await client.connect();
    } catch (error) {
      // too_many_connections (PostgreSQL, Appendix A)
      if (error instanceof pg.DatabaseError && error.code === '53300') {
        return false;
      }
      throw error;
    }
    this.clients.push(client);
    return true;
  }
}

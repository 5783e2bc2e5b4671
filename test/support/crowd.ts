import pg from 'pg';

/** Others who take connections of a server and give none back. */
export class Crowd {
  private readonly clients: pg.Client[] = [];

  constructor(private readonly url: string) {}

  get size(): number {
    return this.clients.length;
  }

  /** Takes all that are left. */
  async fill(): Promise<void> {
    while (await this.take()) {
      // There may be another.
    }
  }

  async leave(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client.end()));
  }

  /** @returns whether there was one. */
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

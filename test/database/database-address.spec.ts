import pg from 'pg';
import { toDriverAddress } from '../../prisma/database-address.mjs';

/** Returns what the driver reads in an address. */
function read(address: string) {
  const { user, password, host, port, database, ssl } = new pg.Client(
    toDriverAddress(address),
  ) as pg.Client & {
    ssl: unknown;
  };
  return { user, password, host, port, database, ssl };
}

const STORE = { user: 'store', database: 'animals' };

describe('toDriverAddress', () => {
  it.each([
    ['postgres://store@/animals?host=/run/postgresql', 5432, null],
    ['postgresql://store@/animals?host=%2Frun%2Fpostgresql&port=6432', 6432, null],
    ['postgres://store:p%40ss@:6432/animals?host=/run/postgresql', 6432, 'p@ss'],
    ['postgres:///animals?host=/run/postgresql&user=store', 5432, null],
    ['postgres://store@%2Frun%2Fpostgresql/animals', 5432, null],
    ['postgres://store@localhost/animals?host=/run/postgresql', 5432, null],
  ])('reads the folder of a socket: %s', (address, port, password) => {
    expect(read(address)).toEqual({ ...STORE, password, host: '/run/postgresql', port, ssl: false });
  });

  it('uses this machine if an address has neither host nor folder', () => {
    expect(read('postgres://store@/animals')).toMatchObject({ ...STORE, host: 'localhost' });
  });

  const VERIFIED = {};
  it.each([
    // Neon, PlanetScale, Prisma Postgres, Supabase, Aiven, Azure, Prisma's guide.
    ['sslmode=verify-full&sslrootcert=system', VERIFIED],
    ['sslmode=verify-full&sslrootcert=system&sslnegotiation=direct', VERIFIED],
    ['sslrootcert=system', VERIFIED],
    ['sslrootcert=system&sslmode=require&uselibpqcompat=true', VERIFIED],
    ['sslmode=require&channel_binding=require', VERIFIED],
    ['sslmode=require&options=endpoint%3Dep-cool-darkness-123456', VERIFIED],
    ['sslmode=require&pgbouncer=true&connection_limit=1&pool_timeout=15&connect_timeout=15', VERIFIED],
    ['sslmode=prefer&target_session_attrs=read-write&gssencmode=disable', VERIFIED],
    ['sslmode=verify-ca', VERIFIED],
    ['sslmode=require&uselibpqcompat=true', { rejectUnauthorized: false }],
    ['sslmode=no-verify', { rejectUnauthorized: false }],
    ['ssl=true', true],
    ['sslmode=disable', false],
    ['schema=animals&statement_cache_size=0', false],
  ])('checks the certificate as required, without a warning: %s', (parameters, ssl) => {
    const warn = jest.spyOn(process, 'emitWarning');
    expect(read(`postgres://store@db.example/animals?${parameters}`)).toMatchObject({ ...STORE, ssl });
    expect(warn).not.toHaveBeenCalled();
  });

  it('keeps every other parameter', () => {
    const address = toDriverAddress(
      'postgres://store@db/animals?schema=a&sslrootcert=system&options=-c%20a%3Db',
    );
    expect(Object.fromEntries(new URL(address).searchParams)).toEqual({
      schema: 'a',
      sslmode: 'verify-full',
      options: '-c a=b',
    });
  });

  it.each(['mysql://store@db.example/animals', 'postgres://store@one:5432,two:5432/animals', 'animals', ''])(
    'returns any other address as it is: %s',
    (address) => expect(toDriverAddress(address)).toBe(address),
  );
});

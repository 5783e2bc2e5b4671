// Providers of databases show addresses for libpq. What `pg` and `URL` do not read in them is replaced here.

/** What precedes the host in an address without one. */
const BEFORE_NO_HOST = /^\w+:\/\/(?:[^/?#]*@)?(?=[:/?#]|$)/;
/** The driver warns of these, because its next major version checks less than it does now. */
const CHECKED_AS_FULL = /^(prefer|require|verify-ca)$/;

export function toDriverAddress(address) {
  // The folder of a socket is a parameter.
  const text = URL.canParse(address) ? address : address.replace(BEFORE_NO_HOST, '$&localhost');
  if (!URL.canParse(text)) {
    return address;
  }
  const url = new URL(text);
  const { searchParams: parameters } = url;
  // The authorities that Node trusts are those of the system, or instead of them.
  const isSystem = parameters.get('sslrootcert') === 'system';
  const isAlias = CHECKED_AS_FULL.test(parameters.get('sslmode')) && !parameters.has('uselibpqcompat');
  if (!isSystem && !isAlias) {
    return text;
  }
  if (isSystem) {
    parameters.delete('sslrootcert');
    parameters.delete('uselibpqcompat');
  }
  parameters.set('sslmode', 'verify-full');
  return url.href;
}

export function schemaOf(connectionString) {
  return new URLSearchParams(connectionString?.split('?')[1]).get('schema') || null;
}

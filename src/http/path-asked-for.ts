/** The path of a request target, of which the absolute form names a host first (RFC 9112, section 3.2.2). */
export function pathAskedFor(target: string): string {
  const withoutHost = target.replace(/^https?:\/\/[^/?]*/i, '');
  return withoutHost.split(/[?#]/, 1)[0] || '/';
}

/** `<target>` and its parameters, whose quoted text may contain anything. */
const LINK = /<([^<>]*)>((?:[^<"]|"[^"]*")*)/g;
const RELATIONS = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i;

/** Returns the target of the first link of a relation in a `Link` header (RFC 8288), or null without one. */
export function linkTarget(header: string | null, relation: string): string | null {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(LINK)) {
    const [, quoted, token] = RELATIONS.exec(parameters) ?? [];
    if ((quoted ?? token ?? '').split(/\s+/).includes(relation)) {
      return target;
    }
  }
  return null;
}

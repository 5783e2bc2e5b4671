/** `<target>` and its parameters, whose quoted text may contain anything. */
const LINK = /<([^<>]*)>((?:[^<"]|"[^"]*")*)/g;
const RELATIONS = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i;

/** Returns the target of the first link of a relation in a `Link` header (RFC 8288), or null without one. */
export function linkTarget(header: string | null, relation: string): string | null {
  return linkTargets(header, relation)[0] ?? null;
}

/** Returns the targets of all links of a relation in a `Link` header. */
export function linkTargets(header: string | null, relation: string): string[] {
  return [...(header ?? '').matchAll(LINK)].flatMap(([, target = '', parameters = '']) => {
    const [, quoted, token] = RELATIONS.exec(parameters) ?? [];
    return (quoted ?? token ?? '').split(/\s+/).includes(relation) ? [target] : [];
  });
}

type Components = Record<string, Record<string, object>>;

const REFERENCE = /"\$ref":"#\/components\/(\w+)\/([^"]+)"/g;

/** Returns the components that parts of a document refer to, directly or through another component. */
export function referencedComponents<All extends Components>(parts: unknown[], components: All): All {
  const referenced = new Set<object>();
  const follow = (value: unknown): void => {
    for (const [, kind = '', name = ''] of JSON.stringify(value).matchAll(REFERENCE)) {
      const component = components[kind]?.[name];
      if (component !== undefined && !referenced.has(component)) {
        referenced.add(component);
        follow(component);
      }
    }
  };
  follow(parts);
  return Object.fromEntries(
    Object.entries(components).map(([kind, all]) => [
      kind,
      Object.fromEntries(Object.entries(all).filter(([, component]) => referenced.has(component))),
    ]),
  ) as All;
}

import type { OpenAPIObject } from '@nestjs/swagger';

type Components = Record<string, Record<string, object>>;

/** Returns the components that the paths refer to, directly or through another component. */
export function referencedComponents<All extends Components>(
  paths: OpenAPIObject['paths'],
  components: All,
): All {
  const referenced = new Set<string>();
  const follow = (value: unknown): void => {
    for (const reference of referencesIn(value)) {
      if (!referenced.has(reference)) {
        referenced.add(reference);
        const [kind = '', name = ''] = reference.split('/').slice(2);
        follow(components[kind]?.[name]);
      }
    }
  };
  follow(paths);
  return Object.fromEntries(
    Object.entries(components).map(([kind, all]) => [
      kind,
      Object.fromEntries(
        Object.entries(all).filter(([name]) => referenced.has(`#/components/${kind}/${name}`)),
      ),
    ]),
  ) as All;
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

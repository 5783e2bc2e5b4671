const MODELS: Record<string, string> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
};

/** Returns a value whose objects note the path of each of their fields that is read. */
function watched(value: unknown, path: string, read: Set<string>): unknown {
  if (value === null || typeof value !== 'object') {
    return value;
  }
  const get = (target: object, key: string | symbol): unknown => {
    const field: unknown = Reflect.get(target, key);
    if (typeof key !== 'string' || !Object.hasOwn(target, key)) {
      return field;
    }
    read.add(`${path}.${key}`);
    return watched(field, `${path}.${key}`, read);
  };
  return new Proxy(value, { get });
}

const fieldsOf = (value: unknown, path: string): string[] =>
  value === null || typeof value !== 'object'
    ? []
    : Object.entries(value).flatMap(([key, field]) => [
        `${path}.${key}`,
        ...fieldsOf(field, `${path}.${key}`),
      ]);

/** Returns the faults of an object by the schema of its kind. @throws Error if the kind has no schema. */
export async function findFaults(object: { apiVersion: string; kind: string }): Promise<string[]> {
  const { apiVersion, kind } = object;
  const models = MODELS[apiVersion.split('/')[0] ?? ''] ?? 'kubernetes-models';
  const { [kind]: model } = await import(`${models}/${apiVersion}/${kind}`);
  const faults: string[] = [];
  const read = new Set<string>();
  try {
    model.prototype.validate.call(watched(object, '', read));
  } catch (error) {
    faults.push((error as Error).message);
  }
  // The validators let unknown fields pass, but read every field that the schema has.
  faults.push(
    ...fieldsOf(object, '')
      .filter((field) => !read.has(field))
      .map((field) => `${field} is unknown`),
  );
  return faults;
}

import { text } from 'node:stream/consumers';

// Reads objects of Kubernetes as JSON and writes, as JSON, the faults of each. A process of its own, because
// the models are ESM only.

const MODELS = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
};

/** Returns an object that notes the path of each of its fields that is read. */
function watched(value, path, read) {
  if (value === null || typeof value !== 'object') {
    return value;
  }
  const get = (target, key) => {
    if (typeof key !== 'string' || !Object.hasOwn(target, key)) {
      return target[key];
    }
    read.add(`${path}.${key}`);
    return watched(target[key], `${path}.${key}`, read);
  };
  return new Proxy(value, { get });
}

const fieldsOf = (value, path) =>
  value === null || typeof value !== 'object'
    ? []
    : Object.entries(value).flatMap(([key, field]) => [
        `${path}.${key}`,
        ...fieldsOf(field, `${path}.${key}`),
      ]);

/** The faults by the schema of its kind. @throws Error if there is no schema. */
async function faultsOf(object) {
  const { apiVersion, kind } = object;
  const models = MODELS[apiVersion.split('/')[0]] ?? 'kubernetes-models';
  const model = await import(`${models}/${apiVersion}/${kind}`);
  const faults = [];
  const read = new Set();
  try {
    model[kind].prototype.validate.call(watched(object, '', read));
  } catch (error) {
    faults.push(error.message);
  }
  // The validators let unknown fields pass, but read every field that the schema has.
  faults.push(
    ...fieldsOf(object, '')
      .filter((field) => !read.has(field))
      .map((field) => `${field} is unknown`),
  );
  return faults;
}

const objects = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await Promise.all(objects.map(faultsOf))));

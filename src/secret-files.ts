import { readFileSync } from 'node:fs';

/** Settings that may hold a secret. `NAME_FILE` may name a file instead, as Docker and Kubernetes hand secrets over. */
export const SECRETS = ['DATABASE_URL', 'DIRECT_DATABASE_URL', 'COUNTER_STORE', 'ADMIN_API_KEY'] as const;

type Variables = Record<string, string | undefined>;

const readText = (file: string) => readFileSync(file, 'utf8');

/**
 * The variables with each secret that a file holds in its place, without the line break at the file's end.
 *
 * @param faults where a line is added for each that cannot be had. It names the setting, and shows nothing of a secret.
 */
export function resolveSecretFiles(variables: Variables, faults: string[], read = readText): Variables {
  const resolved = { ...variables };
  for (const name of SECRETS) {
    const file = variables[`${name}_FILE`];
    if (file === undefined) {
      continue;
    }
    if (variables[name] !== undefined) {
      faults.push(`${name} and ${name}_FILE are both set: give one of them`);
      continue;
    }
    try {
      const secret = read(file).replace(/\r?\n$/, '');
      if (secret === '') {
        faults.push(`${name}_FILE ${file} is empty`);
      } else {
        resolved[name] = secret;
      }
    } catch (error) {
      faults.push(`${name}_FILE ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
    }
  }
  return resolved;
}

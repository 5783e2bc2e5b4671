import { readFailure, readTextFile } from './text-file.js';

/**
 * Settings that may contain a secret. `NAME_FILE` may name a file instead, as Docker and Kubernetes mount
 * secrets as files.
 */
export const SECRETS = ['DATABASE_URL', 'DIRECT_DATABASE_URL', 'COUNTER_STORE_URL', 'ADMIN_API_KEY'] as const;

type Variables = Record<string, string | undefined>;

/**
 * Returns the variables with the secrets read from their files, each without white space around it.
 *
 * @param faults gets a line for each secret that cannot be read. The line names the setting, and never
 *   contains the secret.
 */
export function resolveSecretFiles(variables: Variables, faults: string[]): Variables {
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
      const secret = readTextFile(file).trim();
      if (secret === '') {
        faults.push(`${name}_FILE ${file} is empty`);
      } else {
        resolved[name] = secret;
      }
    } catch (error) {
      faults.push(`${name}_FILE ${file} cannot be read: ${readFailure(error)}`);
    }
  }
  return resolved;
}

import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

type Variables = Record<string, string | undefined>;

/** What we read of a service of a Compose file. */
interface Service {
  command?: string[];
  environment?: Record<string, string | number | null>;
  healthcheck?: { test: string[] };
  deploy?: { replicas?: number };
  secrets?: string[];
  stop_grace_period?: string;
}

export interface ComposeFile {
  services: Record<string, Service>;
  secrets?: Record<string, { file: string }>;
}

/** Reads a Compose file as Compose would with these variables in `.env`. */
export async function readComposeFile(file: string, variables: Variables = {}): Promise<ComposeFile> {
  const interpolated = (_name: unknown, value: unknown) =>
    typeof value === 'string' ? interpolate(value, variables) : value;
  const content: ComposeFile = parse(await readFile(file, 'utf8'), interpolated, { merge: true });
  for (const service of Object.values(content.services)) {
    service.environment = resolve(service.environment ?? {}, variables);
  }
  return content;
}

/**
 * Lays a file over another one, as Compose does with those of several `-f`: what it says of a service is
 * added to it.
 */
export function overlay(base: ComposeFile, over: ComposeFile): ComposeFile {
  const services = { ...base.services };
  for (const [name, { environment, ...rest }] of Object.entries(over.services)) {
    const below = services[name] as Service;
    services[name] = { ...below, ...rest, environment: { ...below.environment, ...environment } };
  }
  return { ...base, ...over, services };
}

/**
 * The forms of the Compose specification that stand in for a variable that is missing, or (with a colon)
 * empty. What stands in may contain a variable itself.
 */
const VARIABLE = /\$\{(\w+)(?:(:?)([-+])((?:[^${}]|\$\{[^}]*\})*))?\}/g;

function interpolate(text: string, variables: Variables): string {
  return text.replace(VARIABLE, (_all, name: string, colon = '', sign = '', word = '') => {
    const value = variables[name];
    const isThere = value !== undefined && (colon === '' || value !== '');
    return sign === '+' ? (isThere ? word : '') : isThere ? value : interpolate(word, variables);
  });
}

/** A variable without a value is that of `.env`, or none. */
function resolve(environment: NonNullable<Service['environment']>, variables: Variables) {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => {
      const found = value ?? variables[name];
      return found === undefined ? [] : [[name, String(found)]];
    }),
  );
}

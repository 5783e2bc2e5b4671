/** Returns a valid value of a search parameter, undefined for any other. */
type Reader<Value> = (value: unknown) => Value | undefined;

type Search<Readers extends Record<string, Reader<unknown>>> = {
  [Name in keyof Readers]?: NonNullable<ReturnType<Readers[Name]>>;
};

/**
 * Returns a function that keeps the valid parameters of an address with these names, and drops all others.
 */
export function searchReader<Readers extends Record<string, Reader<unknown>>>(readers: Readers) {
  return (search: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(readers)
        .map(([name, read]) => [name, read(search[name])])
        .filter(([, value]) => value !== undefined),
    ) as Search<Readers>;
}

export function oneOf<Value extends string>(values: readonly Value[]): Reader<Value> {
  return (value) => values.find((each) => each === value);
}

export function matching(pattern: RegExp): Reader<string> {
  return (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined);
}

/** Accepts a text that is not empty, such as one that a reader searches for. */
export function textUpTo(maxLength: number): Reader<string> {
  return (value) =>
    typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;
}

/** Accepts a time as `YYYY-MM-DDTHH:MM`, in the reader's zone. */
export const localTime: Reader<string> = (value) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(String(value)) && !Number.isNaN(Date.parse(String(value)))
    ? String(value)
    : undefined;

/** Accepts an id of a key, a quota or a webhook. */
export const uuid = matching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i);

/** Accepts a name as the service does. Other names could also lead to other paths. */
export const planName = matching(/^[a-z][a-z0-9-]{0,62}$/);

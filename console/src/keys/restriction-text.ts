/** Returns a restriction of a key as text: `all` without one, and "None" for an empty list. */
export function restrictionText(list: string[] | null, all: string): string {
  return list === null ? all : list.join(', ') || 'None';
}

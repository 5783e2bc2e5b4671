import type { Key } from 'animal-store-client';

type Related = Pick<Key, 'id' | 'quotaId' | 'issuerId' | 'predecessorId'>;

/** A key of a list, and how deep it is below the first that issued. */
export type InTree<Listed> = Listed & { depth: number };

/**
 * Returns the keys of a list with those of one quota together, at the place of the first. A key and those
 * that it replaced are beside each other, and below them is what any of them issued. Otherwise the order
 * stays.
 */
export function toTree<Listed extends Related>(keys: Listed[]): InTree<Listed>[] {
  const successors = new Map(keys.map(({ id, predecessorId }) => [predecessorId, id]));
  /** Names the line of a key by the last of its successors. */
  const lineOf = (id: string): string => {
    const successor = successors.get(id);
    return successor === undefined ? id : lineOf(successor);
  };
  const quotas = groupBy(keys, ({ quotaId }) => quotaId);
  const lines = groupBy(keys, ({ id }) => lineOf(id));
  const parentOf = ([{ issuerId }]: Line<Listed>) => {
    const issuers = issuerId === null ? null : lineOf(issuerId);
    return issuers !== null && lines.has(issuers) ? issuers : null;
  };
  const issued = groupBy([...lines], ([, line]) => parentOf(line));
  const listBelow = (parent: string | null, quotaId: string, depth: number): InTree<Listed>[] =>
    (issued.get(parent) ?? [])
      .filter(([, [first]]) => first.quotaId === quotaId)
      .flatMap(([name, line]) => [
        ...line.map((key) => ({ ...key, depth })),
        ...listBelow(name, quotaId, depth + 1),
      ]);
  return [...quotas.keys()].flatMap((quotaId) => listBelow(null, quotaId, 0));
}

/** Returns the keys of a list as they are. */
export function toFlat<Listed>(keys: Listed[]): InTree<Listed>[] {
  return keys.map((key) => ({ ...key, depth: 0 }));
}

/** A key with its predecessors and successors in a list. */
type Line<Listed> = [Listed, ...Listed[]];

function groupBy<Item, Name>(items: Item[], nameOf: (item: Item) => Name): Map<Name, Line<Item>> {
  const groups = new Map<Name, Line<Item>>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group === undefined) {
      groups.set(nameOf(item), [item]);
    } else {
      group.push(item);
    }
  }
  return groups;
}

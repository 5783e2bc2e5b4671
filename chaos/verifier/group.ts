/** Returns items by what they share, as `Map.groupBy` does, which Node 20 lacks. */
export function groupBy<Item, Shared>(items: Item[], share: (item: Item) => Shared): Map<Shared, Item[]> {
  const groups = new Map<Shared, Item[]>();
  for (const item of items) {
    const shared = share(item);
    const group = groups.get(shared);
    if (group === undefined) {
      groups.set(shared, [item]);
    } else {
      group.push(item);
    }
  }
  return groups;
}

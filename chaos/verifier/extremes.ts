// `Math.max(...)` takes no more values than fit onto the stack, which a window of a long run exceeds.

/** Returns the greatest value of all items; -Infinity if there are no items. */
export const greatestOf = <Item>(items: Item[], valueOf: (item: Item) => number): number =>
  items.reduce((found, item) => Math.max(found, valueOf(item)), -Infinity);

/** Returns the least value of all items; Infinity if there are no items. */
export const leastOf = <Item>(items: Item[], valueOf: (item: Item) => number): number =>
  items.reduce((found, item) => Math.min(found, valueOf(item)), Infinity);

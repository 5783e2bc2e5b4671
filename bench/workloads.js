/** What is asked for, by the name that `wrk.lua` knows it by. */
export const WORKLOADS = {
  first: 'first page',
  filtered: 'first page of a status',
  deep: 'deep pages',
  one: 'by id',
  create: 'create',
  mix: 'mix 70/20/10',
};

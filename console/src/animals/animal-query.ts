import { queryOptions } from '@tanstack/react-query';
import type { AnimalStore, Pet } from 'animal-store-client';

export const animalKey = (id: string) => ['animal', id];

/** Reads an animal outside the shown page of the list; null if there is none. */
export const animalQuery = (store: AnimalStore, id: string) =>
  queryOptions({
    queryKey: animalKey(id),
    queryFn: async ({ signal }): Promise<Pet | null> => {
      const { items } = await store.pets.list({ id: [BigInt(id)] }, { signal });
      return items[0] ?? null;
    },
    staleTime: Infinity,
  });

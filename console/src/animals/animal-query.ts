import { queryOptions } from '@tanstack/react-query';
import type { AnimalStore, Pet } from 'animal-store-client';

/** An animal outside the shown page of the list. */
interface OpenedAnimal {
  pet: Pet;
  /**
   * Is when the operation that read it will be removed, by its response; null if the page had the animal
   * already.
   */
  removedAt: string | null;
}

export const animalKey = (id: string) => ['animal', id];

/** Reads one animal, by an operation that is deprecated, so only if the page does not have it yet. */
export const animalQuery = (store: AnimalStore, id: string) =>
  queryOptions({
    queryKey: animalKey(id),
    queryFn: async ({ signal }): Promise<OpenedAnimal> => {
      const { data, headers } = await store.getPet(BigInt(id), { signal }).withResponse();
      const sunset = headers.get('Sunset');
      return { pet: data, removedAt: sunset === null ? null : new Date(sunset).toISOString() };
    },
    staleTime: Infinity,
  });

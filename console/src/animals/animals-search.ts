import type { PetStatus } from 'animal-store-client';

export const PET_STATUSES = ['available', 'pending', 'sold'] as const satisfies PetStatus[];

/** What the address of the page names. */
export interface AnimalsSearch {
  status?: PetStatus;
  /** The identifier of the opened animal, as text, which keeps all its digits. */
  animal?: string;
}

/** Returns what the page understands of the query of an address. */
export function animalsSearch({ status, animal }: Record<string, unknown>): AnimalsSearch {
  const known = PET_STATUSES.find((each) => each === status);
  return {
    ...(known !== undefined && { status: known }),
    ...(/^-?\d{1,19}$/.test(String(animal)) && { animal: String(animal) }),
  };
}

import type { PetStatus } from 'animal-store-client';
import { matching, oneOf, searchReader } from '../address/search-reader';
import { withPage } from '../table/use-address-position';

export const PET_STATUSES = ['available', 'pending', 'sold'] as const satisfies PetStatus[];

/**
 * The filter and the page of the list, and the identifier of the opened animal as text, which keeps all its
 * digits.
 */
export const animalsSearch = withPage(
  searchReader({ status: oneOf(PET_STATUSES), animal: matching(/^-?\d{1,19}$/) }),
);

import { planName, searchReader } from '../address/search-reader';

/** Returns the plan that an address of the page opens, if any. */
export const plansSearch = searchReader({ plan: planName });

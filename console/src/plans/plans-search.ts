import { planName, searchReader } from '../address/search-reader';
import { withPage } from '../table/use-address-position';

/** The plan that an address of the page opens, if any, and the page of the list. */
export const plansSearch = withPage(searchReader({ plan: planName }));

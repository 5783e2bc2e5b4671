import { searchReader, textUpTo } from '../address/search-reader';

/** Returns the operation that an address of the page names, if any. */
export const tryItSearch = searchReader({ operation: textUpTo(100) });

import { ApiPromise, type ApiResponse } from './api-promise.js';
import { everyItem, type Page } from './pages.js';

/** The promise of one page of a list. `for await` walks over the items of this page and of all after it. */
export class PagePromise<Item> extends ApiPromise<Page<Item>> implements AsyncIterable<Item> {
  constructor(
    pending: Promise<ApiResponse<Page<Item>>>,
    private readonly nextPage: (cursor: string) => Promise<Page<Item>>,
  ) {
    super(pending);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    return everyItem(({ cursor }) => (cursor === undefined ? this : this.nextPage(cursor)));
  }
}

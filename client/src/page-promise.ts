import { ApiPromise, type ApiResponse } from './api-promise.js';
import { everyItem, type ResultPage } from './pages.js';

/**
 * The promise of one page of a list. `for await` iterates over the items of this page and of all after it.
 * The page is requested once it is awaited, or the iteration begins.
 */
export class PagePromise<Item> extends ApiPromise<ResultPage<Item>> implements AsyncIterable<Item> {
  private page: Promise<ApiResponse<ResultPage<Item>>> | null = null;

  /**
   * @internal
   * @param requestPage requests the page as the query has it.
   * @param requestLargePage requests the first page, or the one that a cursor names, for an iteration.
   */
  constructor(
    requestPage: () => Promise<ApiResponse<ResultPage<Item>>>,
    private readonly requestLargePage: (from: { cursor?: string }) => Promise<ApiResponse<ResultPage<Item>>>,
  ) {
    super(requestPage);
  }

  override withResponse(): Promise<ApiResponse<ResultPage<Item>>> {
    return (this.page ??= super.withResponse());
  }

  [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    return everyItem(async (from) => {
      const isRequested = this.page !== null && from.cursor === undefined;
      const { data } = await (isRequested ? this.withResponse() : this.requestLargePage(from));
      return data;
    });
  }
}

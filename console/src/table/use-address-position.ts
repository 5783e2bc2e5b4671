import { useNavigate, useRouterState } from '@tanstack/react-router';
import type { PagePosition } from './use-cursor-pages';

/** The page of a list in an address: its cursor, and which page that was. */
interface PageSearch {
  cursor?: string;
  page?: number;
}

declare module '@tanstack/history' {
  interface HistoryState {
    /** Lists the cursors of the pages that the reader went through before. */
    cursors?: string[];
  }
}

/** Returns a function that reads the page of an address, and what `read` returns of it. */
export const withPage =
  <Search>(read: (search: Record<string, unknown>) => Search) =>
  (search: Record<string, unknown>): Search & PageSearch => ({ ...read(search), ...pageSearch(search) });

/** Returns the page that an address names; the first one if it names none. */
function pageSearch({ cursor, page }: Record<string, unknown>): PageSearch {
  const number = Number(page);
  return typeof cursor === 'string' && Number.isSafeInteger(number) && number > 1
    ? { cursor, page: number }
    : {};
}

/** Keeps the position in a list in the address, so that the page can be reloaded, left and linked to. */
export function useAddressPosition({
  cursor,
  page = 1,
}: PageSearch): [PagePosition, (position: PagePosition) => void] {
  const navigate = useNavigate();
  const earlier = useRouterState({ select: ({ location }) => location.state.cursors });
  const position = { cursors: cursor === undefined ? [] : [...(earlier ?? []), cursor], number: page };
  const setPosition = ({ cursors, number }: PagePosition) =>
    void navigate({
      to: '.',
      search: ({ cursor: _cursor, page: _page, ...search }: Record<string, unknown>) =>
        number === 1 ? search : { ...search, cursor: cursors.at(-1), page: number },
      state: { cursors: cursors.slice(0, -1) },
      resetScroll: false,
    } as never);
  return [position, setPosition];
}

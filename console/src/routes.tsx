import { createRootRoute, createRoute, createRouter, stringifySearchWith } from '@tanstack/react-router';
import { AppLayout } from './layout/app-layout';
import { NotFoundPage } from './layout/not-found.page';
import { PageError } from './layout/page-error';
import { OverviewPage } from './overview/overview.page';

const root = createRootRoute({
  component: AppLayout,
  notFoundComponent: NotFoundPage,
  errorComponent: PageError,
});

const overview = createRoute({ getParentRoute: () => root, path: '/', component: OverviewPage });

export const router = createRouter({
  routeTree: root.addChildren([overview]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
  // Values of an address are texts. By default they are JSON, where the number of an int64 loses digits.
  parseSearch: (query) => Object.fromEntries(new URLSearchParams(query)),
  stringifySearch: stringifySearchWith(JSON.stringify),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

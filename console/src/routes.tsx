import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  stringifySearchWith,
} from '@tanstack/react-router';
import { animalsSearch } from './animals/animals-search';
import { AppLayout } from './layout/app-layout';
import { NotFoundPage } from './layout/not-found.page';
import { PageError } from './layout/page-error';
import { ordersSearch } from './orders/orders-search';
import { OverviewPage } from './overview/overview.page';

const root = createRootRoute({
  component: AppLayout,
  notFoundComponent: NotFoundPage,
  errorComponent: PageError,
});

const overview = createRoute({ getParentRoute: () => root, path: '/', component: OverviewPage });

const animals = createRoute({
  getParentRoute: () => root,
  path: '/animals',
  validateSearch: animalsSearch,
  component: lazyRouteComponent(() => import('./animals/animals.page'), 'AnimalsPage'),
});

const orders = createRoute({
  getParentRoute: () => root,
  path: '/orders',
  validateSearch: ordersSearch,
  component: lazyRouteComponent(() => import('./orders/orders.page'), 'OrdersPage'),
});

const tryIt = createRoute({
  getParentRoute: () => root,
  path: '/try',
  validateSearch: ({ operation }: Record<string, unknown>): { operation?: string } =>
    typeof operation === 'string' ? { operation } : {},
  component: lazyRouteComponent(() => import('./try-it/try-it.page'), 'TryItPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([overview, animals, orders, tryIt]),
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

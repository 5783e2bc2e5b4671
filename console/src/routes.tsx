import { createRootRoute, createRoute, createRouter, stringifySearchWith } from '@tanstack/react-router';
import { SERVICE_ROOT } from './address/service-root';
import { animalsSearch } from './animals/animals-search';
import { auditSearch } from './audit/audit-search';
import { keysSearch } from './keys/keys-search';
import { AdministratorsOnly } from './layout/administrators-only';
import { AppLayout } from './layout/app-layout';
import { lazyPage } from './layout/lazy-page';
import { NotFoundPage } from './layout/not-found.page';
import { PageError } from './layout/page-error';
import { ordersSearch } from './orders/orders-search';
import { plansSearch } from './plans/plans-search';
import { withPage } from './table/use-address-position';
import { trafficSearch } from './traffic/traffic-range';
import { deliveriesSearch } from './webhooks/deliveries-search';
import { OverviewPage } from './overview/overview.page';

const root = createRootRoute({
  component: AppLayout,
  notFoundComponent: NotFoundPage,
});

const overview = createRoute({ getParentRoute: () => root, path: '/', component: OverviewPage });

const animals = createRoute({
  getParentRoute: () => root,
  path: '/animals',
  validateSearch: animalsSearch,
  component: lazyPage(() => import('./animals/animals.page'), 'AnimalsPage'),
});

const orders = createRoute({
  getParentRoute: () => root,
  path: '/orders',
  validateSearch: ordersSearch,
  component: lazyPage(() => import('./orders/orders.page'), 'OrdersPage'),
});

const team = createRoute({
  getParentRoute: () => root,
  path: '/team',
  component: lazyPage(() => import('./team/team.page'), 'TeamPage'),
});

const administration = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  component: AdministratorsOnly,
});

const traffic = createRoute({
  getParentRoute: () => administration,
  path: '/',
  validateSearch: withPage(trafficSearch),
  component: lazyPage(() => import('./traffic/traffic.page'), 'TrafficPage'),
});

const plans = createRoute({
  getParentRoute: () => administration,
  path: '/plans',
  validateSearch: plansSearch,
  component: lazyPage(() => import('./plans/plans.page'), 'PlansPage'),
});

const audit = createRoute({
  getParentRoute: () => administration,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyPage(() => import('./audit/audit.page'), 'AuditPage'),
});

const keys = createRoute({
  getParentRoute: () => administration,
  path: '/keys',
  validateSearch: keysSearch,
  component: lazyPage(() => import('./keys/keys.page'), 'KeysPage'),
});

const key = createRoute({
  getParentRoute: () => administration,
  path: '/keys/$id',
  component: lazyPage(() => import('./keys/key.page'), 'KeyPage'),
});

const webhooks = createRoute({
  getParentRoute: () => administration,
  path: '/webhooks',
  component: lazyPage(() => import('./webhooks/webhooks.page'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute: () => administration,
  path: '/webhooks/$id',
  validateSearch: deliveriesSearch,
  component: lazyPage(() => import('./webhooks/webhook.page'), 'WebhookPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    animals,
    orders,
    team,
    administration.addChildren([traffic, keys, key, plans, webhooks, webhook, audit]),
  ]),
  basepath: new URL('console', SERVICE_ROOT).pathname,
  defaultPreload: 'intent',
  // An error replaces the page only, not the navigation around it.
  defaultErrorComponent: PageError,
  scrollRestoration: true,
  // Search parameters that `validateSearch` does not return are dropped.
  search: { strict: true },
  // Values of an address are texts. By default they are JSON, in which the number of an int64 loses digits.
  parseSearch: (query) => Object.fromEntries(new URLSearchParams(query)),
  stringifySearch: stringifySearchWith(JSON.stringify),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

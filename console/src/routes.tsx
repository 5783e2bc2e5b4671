import { createRootRoute, createRoute, createRouter, stringifySearchWith } from '@tanstack/react-router';
import { SERVICE_ROOT } from './address/service-root';
import { animalsSearch } from './animals/animals-search';
import { auditSearch } from './audit/audit-search';
import { keysSearch } from './keys/keys-search';
import { AdministratorsOnly } from './layout/administrators-only';
import { AppLayout } from './layout/app-layout';
import { NotFoundPage } from './layout/not-found.page';
import { PageError } from './layout/page-error';
import { ordersSearch } from './orders/orders-search';
import { plansSearch } from './plans/plans-search';
import { FailedRequestPage, OwnFailedRequestPage } from './requests/failed-request.page';
import { FailedRequestsPage } from './requests/failed-requests.page';
import { failedRequestSearch, failedRequestsSearch } from './requests/failed-requests-search';
import { OwnFailedRequestsPage } from './requests/own-failed-requests.page';
import { withPage } from './table/use-address-position';
import { trafficSearch } from './traffic/traffic-range';
import { deliveriesSearch } from './webhooks/deliveries-search';
import { OverviewPage } from './overview/overview.page';
import { AnimalsPage } from './animals/animals.page';
import { OrdersPage } from './orders/orders.page';
import { TeamPage } from './team/team.page';
import { TrafficPage } from './traffic/traffic.page';
import { PlansPage } from './plans/plans.page';
import { AuditPage } from './audit/audit.page';
import { KeysPage } from './keys/keys.page';
import { KeyPage } from './keys/key.page';
import { WebhooksPage } from './webhooks/webhooks.page';
import { WebhookPage } from './webhooks/webhook.page';

const root = createRootRoute({
  component: AppLayout,
  notFoundComponent: NotFoundPage,
});

const overview = createRoute({ getParentRoute: () => root, path: '/', component: OverviewPage });

const animals = createRoute({
  getParentRoute: () => root,
  path: '/animals',
  validateSearch: animalsSearch,
  component: AnimalsPage,
});

const orders = createRoute({
  getParentRoute: () => root,
  path: '/orders',
  validateSearch: ordersSearch,
  component: OrdersPage,
});

const team = createRoute({
  getParentRoute: () => root,
  path: '/team',
  component: TeamPage,
});

const ownRequests = createRoute({
  getParentRoute: () => root,
  path: '/requests',
  validateSearch: failedRequestsSearch,
  component: OwnFailedRequestsPage,
});

const ownRequest = createRoute({
  getParentRoute: () => root,
  path: '/requests/show',
  validateSearch: failedRequestSearch,
  component: OwnFailedRequestPage,
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
  component: TrafficPage,
});

const requests = createRoute({
  getParentRoute: () => administration,
  path: '/requests',
  validateSearch: failedRequestsSearch,
  component: FailedRequestsPage,
});

const request = createRoute({
  getParentRoute: () => administration,
  path: '/requests/show',
  validateSearch: failedRequestSearch,
  component: FailedRequestPage,
});

const plans = createRoute({
  getParentRoute: () => administration,
  path: '/plans',
  validateSearch: plansSearch,
  component: PlansPage,
});

const audit = createRoute({
  getParentRoute: () => administration,
  path: '/audit',
  validateSearch: auditSearch,
  component: AuditPage,
});

const keys = createRoute({
  getParentRoute: () => administration,
  path: '/keys',
  validateSearch: keysSearch,
  component: KeysPage,
});

const key = createRoute({
  getParentRoute: () => administration,
  path: '/keys/$id',
  component: KeyPage,
});

const webhooks = createRoute({
  getParentRoute: () => administration,
  path: '/webhooks',
  component: WebhooksPage,
});

const webhook = createRoute({
  getParentRoute: () => administration,
  path: '/webhooks/$id',
  validateSearch: deliveriesSearch,
  component: WebhookPage,
});

export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    animals,
    orders,
    team,
    ownRequests,
    ownRequest,
    administration.addChildren([traffic, requests, request, keys, key, plans, webhooks, webhook, audit]),
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

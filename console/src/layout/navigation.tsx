import { Badge, NavLink, Stack, Text } from '@mantine/core';
import {
  IconActivity,
  IconAlertTriangle,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconPaw,
  IconReceipt,
  IconStack2,
  IconTerminal2,
  IconUsersGroup,
  IconWebhook,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { leavePage } from '../address/leave-page';
import { SERVICE_ROOT } from '../address/service-root';
import { useOwnKey } from '../session/own-key';
import { managesKeys } from '../team/team-permission';

interface Destination {
  to: string;
  label: string;
  icon: typeof IconKey;
  /** How stable its operations are, if they are not stable. */
  badge?: string;
}

const STORE: Destination[] = [
  { to: '/', label: 'Overview', icon: IconLayoutDashboard },
  { to: '/animals', label: 'Animals', icon: IconPaw },
  { to: '/orders', label: 'Orders', icon: IconReceipt, badge: 'Beta' },
];

const OWN_REQUESTS: Destination = {
  to: '/requests',
  label: 'Failed requests',
  icon: IconAlertTriangle,
  badge: 'Beta',
};

const TEAM: Destination = { to: '/team', label: 'Team keys', icon: IconUsersGroup, badge: 'Beta' };

const ADMINISTRATION: Destination[] = [
  { to: '/admin', label: 'Traffic', icon: IconActivity },
  { to: '/admin/requests', label: 'Failed requests', icon: IconAlertTriangle },
  { to: '/admin/keys', label: 'Keys', icon: IconKey },
  { to: '/admin/plans', label: 'Plans', icon: IconStack2 },
  { to: '/admin/webhooks', label: 'Webhooks', icon: IconWebhook },
  { to: '/admin/audit', label: 'Audit', icon: IconHistory },
];

/** The pages of the signed-in key: its own, and those of an administrator. */
export function Navigation() {
  const { data: key } = useOwnKey();
  const own =
    key !== undefined && managesKeys(key) ? [...STORE, TEAM, OWN_REQUESTS] : [...STORE, OWN_REQUESTS];
  return (
    <Stack gap="lg">
      <Destinations label="Your key" destinations={own} />
      {key?.role === 'admin' && <Destinations label="Administration" destinations={ADMINISTRATION} />}
      <nav aria-label="Documents">
        <NavLink
          href={`${SERVICE_ROOT}docs`}
          onClick={leavePage}
          className="destination"
          label="Reference"
          leftSection={<IconTerminal2 size={18} stroke={1.6} aria-hidden />}
        />
      </nav>
    </Stack>
  );
}

function Destinations({ label, destinations }: { label: string; destinations: Destination[] }) {
  return (
    <nav aria-label={label}>
      <Text size="xs" fw={600} c="dimmed" px="xs" pb={6}>
        {label}
      </Text>
      {destinations.map(({ to, label: name, icon: Icon, badge }) => (
        <NavLink
          key={to}
          renderRoot={(props) => (
            <Link to={to} activeOptions={{ exact: to === '/' || to === '/admin' }} {...props} />
          )}
          className="destination"
          label={name}
          leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
          rightSection={
            badge !== undefined && (
              <Badge size="xs" variant="light">
                {badge}
              </Badge>
            )
          }
        />
      ))}
    </nav>
  );
}

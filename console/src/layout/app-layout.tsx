import { AppShell, Burger, Group, Image, ScrollArea, Text } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import icon from '../icon.svg';
import { RequestSearch } from '../requests/request-search';
import { AccountMenu } from './account-menu';
import { KeyNotice } from './key-notice';
import { Navigation } from './navigation';

const NAVIGATION_WIDTH = 248;
const HEADER_HEIGHT = 60;
/** Matches a screen with the header instead of the navigation, as the breakpoint `md` does. */
const NARROW = '(max-width: 61.99em)';

/** The frame of every page: navigation at the side, or behind a button on a small screen. */
export function AppLayout() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => close(), [path, close]);
  return (
    <AppShell
      header={{ height: { base: HEADER_HEIGHT, md: 0 } }}
      navbar={{ width: NAVIGATION_WIDTH, breakpoint: 'md', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', md: 'xl' }}
    >
      <a
        className="skip-link"
        href="#content"
        onClick={(event) => (event.preventDefault(), main.current?.focus())}
      >
        Skip to the content
      </a>
      <AppShell.Header hiddenFrom="md" px="md" className="navigation">
        <Group h="100%" justify="space-between" gap="sm" wrap="nowrap">
          <Brand />
          {isNarrow && <RequestSearch />}
          <Burger opened={isOpen} onClick={toggle} aria-label="Navigation" aria-expanded={isOpen} size="sm" />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="navigation" data-closed={!isOpen} p="md">
        <AppShell.Section visibleFrom="md" px="xs" pb="lg" pt={4}>
          <Brand />
        </AppShell.Section>
        {!isNarrow && (
          <AppShell.Section pb="lg">
            <RequestSearch />
          </AppShell.Section>
        )}
        <AppShell.Section grow component={ScrollArea} type="auto">
          <Navigation />
        </AppShell.Section>
        <AppShell.Section pt="md">
          <AccountMenu />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" ref={main} tabIndex={-1}>
        <KeyNotice />
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

function Brand() {
  return (
    <Group gap="xs" wrap="nowrap" style={{ whiteSpace: 'nowrap' }}>
      <Image src={icon} alt="" w={28} h={28} />
      <Text fw={650}>Animal Store</Text>
    </Group>
  );
}

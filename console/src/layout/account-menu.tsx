import {
  Avatar,
  Group,
  Menu,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import { IconDeviceDesktop, IconLogout, IconMoon, IconSelector, IconSun } from '@tabler/icons-react';
import { useOwnKey } from '../session/own-key';
import { useSession } from '../session/session';

const SCHEMES = [
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
] as const;
/** Symbols, and characters that Mantine would cut in half. */
const NO_INITIAL = /[^\p{L}\p{N}\s]|[\u{10000}-\u{10FFFF}]/gu;
type Scheme = (typeof SCHEMES)[number]['value'];

/** Who is signed in, the colour scheme, and the way out. */
export function AccountMenu() {
  const { apiKey, signOut } = useSession();
  const { data: key } = useOwnKey();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const ending = `…${apiKey?.slice(-4) ?? ''}`;
  return (
    <Menu position="top-start" width="target" withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <UnstyledButton w="100%" p="xs">
          <VisuallyHidden>Account: </VisuallyHidden>
          <Group gap="sm" wrap="nowrap">
            <Avatar
              radius="md"
              size={36}
              color="forest"
              aria-hidden
              name={key?.name.replaceAll(NO_INITIAL, '').trim() ?? ''}
            />
            <div style={{ flex: 1, minWidth: 0 }}>
              <Text
                size="sm"
                fw={600}
                lineClamp={2}
                style={{ overflowWrap: 'anywhere' }}
                {...(key !== undefined && { title: key.name })}
              >
                {key?.name ?? 'API key'}
              </Text>
              <Text size="xs" c="dimmed" truncate>
                {key === undefined ? ending : `${key.plan} · ${ending}`}
              </Text>
            </div>
            <IconSelector size={16} aria-hidden />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Theme</Menu.Label>
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as Scheme)}>
          {SCHEMES.map(({ value, label, icon: Icon }) => (
            <Menu.RadioItem
              key={value}
              value={value}
              rightSection={<Icon size={16} aria-hidden />}
              closeMenuOnClick
            >
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={signOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

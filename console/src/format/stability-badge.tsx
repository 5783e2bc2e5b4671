import { Badge, Tooltip } from '@mantine/core';

const STABILITY = {
  beta: { label: 'Beta', meaning: 'May change, at the earliest a month after the announcement' },
  experimental: {
    label: 'Experimental',
    meaning: 'May change or disappear without notice; not every service offers it',
  },
};

/** Shows how stable the operations behind a page or a form are. */
export function StabilityBadge({ stability }: { stability: keyof typeof STABILITY }) {
  const { label, meaning } = STABILITY[stability];
  return (
    <Tooltip label={meaning}>
      <Badge variant="light" tt="none" tabIndex={0}>
        {label}
      </Badge>
    </Tooltip>
  );
}

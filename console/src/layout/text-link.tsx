import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink, type LinkComponent } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';

interface TextAnchorProps
  extends AnchorProps, Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps> {
  ref?: Ref<HTMLAnchorElement>;
}

const RoutedAnchor = createLink((props: TextAnchorProps) => <Anchor {...props} />);

/** A link in a text to a page of the console. */
export const TextLink: LinkComponent<(props: TextAnchorProps) => React.ReactNode> = (props) => (
  <RoutedAnchor {...props} />
);

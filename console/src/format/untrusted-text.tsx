import { Text, type TextProps } from '@mantine/core';

interface UntrustedTextProps extends TextProps {
  children: string;
}

/** Shows a text that anyone may have written: it neither turns the text around it, nor widens the page. */
export function UntrustedText({ children, ...props }: UntrustedTextProps) {
  return (
    <Text component="bdi" inherit style={{ overflowWrap: 'anywhere' }} {...props}>
      {children}
    </Text>
  );
}

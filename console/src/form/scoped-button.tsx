import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import type { MouseEventHandler, ReactNode, Ref } from 'react';
import type { Scope } from '../keys/scopes';
import { useMissingScope } from '../session/missing-scope';

interface ScopedButtonProps extends ButtonProps {
  /** The scope that the work of the button needs. */
  scope: Scope;
  onClick?: MouseEventHandler;
  type?: 'submit';
  ref?: Ref<HTMLButtonElement>;
  children: ReactNode;
}

/**
 * A button that is disabled if the signed-in key lacks a scope, and says why. It keeps the focus of the
 * keyboard, so that the reason can be read.
 */
export function ScopedButton({ scope, onClick, type, ...button }: ScopedButtonProps) {
  const reason = useMissingScope(scope);
  return reason === null ? (
    <Button {...button} {...(type && { type })} {...(onClick && { onClick })} />
  ) : (
    <Tooltip label={reason} multiline w={280}>
      <Button {...button} data-disabled aria-disabled />
    </Tooltip>
  );
}

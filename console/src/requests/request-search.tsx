import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { requestIdIn } from '../../../src/usage/rules/request-id';
import { focusHeading } from '../layout/page';
import { useRequestPath } from './use-request-path';

/** Finds a failed request by its id, or by a text with it: a customer quotes a whole message. */
export function RequestSearch() {
  const to = useRequestPath();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  return (
    <form
      role="search"
      aria-label="Failed requests"
      style={{ flex: 1, minWidth: 0 }}
      onSubmit={(event) => {
        event.preventDefault();
        const id = requestIdIn(text);
        if (id !== '') {
          setText('');
          void navigate({ to, search: { id } }).then(focusHeading);
        }
      }}
    >
      <TextInput
        type="search"
        size="sm"
        aria-label="Find a failed request by its ID"
        placeholder="Find a request ID"
        leftSection={<IconSearch size={16} aria-hidden />}
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="search"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  );
}

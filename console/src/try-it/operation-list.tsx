import { Box, NavLink, ScrollArea, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Method } from './method';
import { type Operation, searchOperations } from './operations';

interface OperationListProps {
  operations: Operation[];
  currentId: string | undefined;
  onChoose: () => void;
}

/** The operations by tag, with a search. */
export function OperationList({ operations, currentId, onChoose }: OperationListProps) {
  const [phrase, setPhrase] = useState('');
  const groups = searchOperations(operations, phrase);
  return (
    <nav aria-label="Operations">
      <TextInput
        type="search"
        aria-label="Search operations"
        placeholder="Search operations"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={phrase}
        onChange={(event) => setPhrase(event.currentTarget.value)}
        mb="md"
      />
      <ScrollArea.Autosize
        mah={{ base: 420, md: 'calc(100dvh - 14rem)' }}
        type="auto"
        viewportProps={{ tabIndex: -1 }}
      >
        {groups.map(({ tag, operations: members }) => (
          <Box key={tag} mb="md">
            <Text size="xs" fw={600} c="dimmed" px="xs" pb={6} tt="capitalize">
              {tag}
            </Text>
            {members.map(({ id, method, path, summary, deprecation }) => (
              <NavLink
                key={id}
                className="destination"
                renderRoot={(props) => <Link to="/try" search={{ operation: id }} {...props} />}
                active={id === currentId}
                aria-current={id === currentId ? 'page' : undefined}
                onClick={onChoose}
                label={<span className={deprecation === null ? undefined : 'try-deprecated'}>{summary}</span>}
                description={
                  <span className="try-path">
                    <Method method={method} /> {path}
                  </span>
                }
              />
            ))}
          </Box>
        ))}
        {groups.length === 0 && (
          <Text size="sm" c="dimmed" px="xs" role="status">
            No operation matches.
          </Text>
        )}
      </ScrollArea.Autosize>
    </nav>
  );
}

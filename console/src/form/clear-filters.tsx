import { Button } from '@mantine/core';

interface ClearFiltersProps {
  isEmpty: boolean;
  onClear: () => void;
}

/** The button that clears the filters of a list. */
export function ClearFilters({ isEmpty, onClear }: ClearFiltersProps) {
  return (
    <Button
      variant="default"
      w="max-content"
      // The button keeps its place without a filter, so that nothing moves when it appears.
      style={{ visibility: isEmpty ? 'hidden' : 'visible' }}
      onClick={onClear}
    >
      Clear filters
    </Button>
  );
}

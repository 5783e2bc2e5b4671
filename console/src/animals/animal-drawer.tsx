import { DataList, Drawer, Skeleton } from '@mantine/core';
import { IconZoomQuestion } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Pet } from 'animal-store-client';
import { EmptyState } from '../feedback/empty-state';
import { ErrorNotice } from '../feedback/error-notice';
import { useLastDefined } from '../feedback/use-last-defined';
import { useStore } from '../session/session';
import { animalQuery } from './animal-query';
import { PET_FIELDS, type ShownField } from './pet-fields';

interface AnimalDrawerProps {
  /** Identifies the animal to show; the drawer is closed if it is undefined. */
  id: string | undefined;
  /** The shown page of the list, or null while it loads: an animal on it needs no request. */
  listed: Pet[] | null;
  onClose: () => unknown;
}

/** Shows one animal beside the list. */
export function AnimalDrawer({ id, listed, onClose }: AnimalDrawerProps) {
  const shown = useLastDefined(id);
  return (
    <Drawer
      opened={id !== undefined}
      onClose={onClose}
      position="right"
      title={`Animal ${shown ?? ''}`}
      padding="lg"
    >
      {shown !== undefined && <Animal key={shown} id={shown} listed={listed} />}
    </Drawer>
  );
}

function Animal({ id, listed }: { id: string; listed: Pet[] | null }) {
  const known = listed?.find((pet) => String(pet.id) === id);
  const query = useQuery({ ...animalQuery(useStore(), id), enabled: listed !== null && known === undefined });
  const pet = known ?? query.data;
  if (pet) {
    return <Fields pet={pet} />;
  }
  if (pet === null) {
    return (
      <EmptyState icon={IconZoomQuestion} title="There is no such animal">
        No animal of the store has the ID {id}.
      </EmptyState>
    );
  }
  return query.error === null ? (
    <Skeleton height={148} radius="md" />
  ) : (
    <ErrorNotice error={query.error} at={query.errorUpdatedAt} retry={() => query.refetch()} />
  );
}

function Fields({ pet }: { pet: Pet }) {
  return (
    <DataList labelWidth={96} gap="md">
      {Object.values<ShownField>(PET_FIELDS).map(({ label, show }) => (
        <DataList.Item key={label}>
          <DataList.ItemLabel>{label}</DataList.ItemLabel>
          <DataList.ItemValue>{show(pet)}</DataList.ItemValue>
        </DataList.Item>
      ))}
    </DataList>
  );
}

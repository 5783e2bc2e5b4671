import { Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useQueryClient } from '@tanstack/react-query';
import type { Pet } from 'animal-store-client';
import { ScopedButton } from '../form/scoped-button';
import { ForScope } from '../layout/for-scope';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { StatusFilter } from '../table/status-filter';
import { useAddressPosition } from '../table/use-address-position';
import { useCursorPages } from '../table/use-cursor-pages';
import { AddAnimalDialog } from './add-animal-dialog';
import { AnimalDrawer } from './animal-drawer';
import { animalKey } from './animal-query';
import { PET_STATUSES } from './animals-search';
import { AnimalsTable } from './animals-table';

const PAGE_SIZE = 20;
const route = getRouteApi('/animals');

/** Lists the animals, opens one, and adds one. The address has the filter, the page and the opened animal. */
export function AnimalsPage() {
  return (
    <ForScope scope="pets:read" title="Animals">
      <Animals />
    </ForScope>
  );
}

function Animals() {
  const store = useStore();
  const queryClient = useQueryClient();
  const navigate = route.useNavigate();
  const { status, animal, ...page } = route.useSearch();
  const [isAdding, adding] = useDisclosure(false);
  const pages = useCursorPages<Pet>({
    queryKey: ['animals', { status }],
    load: (cursor, signal) =>
      store.pets.list({ limit: PAGE_SIZE, ...(status && { status }), ...(cursor && { cursor }) }, { signal }),
    position: useAddressPosition(page),
  });
  const open = (id: string) =>
    navigate({ search: (now) => ({ ...now, animal: id }), state: true, resetScroll: false });
  const close = () =>
    navigate({
      search: ({ animal: _closed, ...now }) => now,
      state: true,
      replace: true,
      resetScroll: false,
    });
  const filter = (chosen: typeof status) =>
    navigate({ search: chosen ? { status: chosen } : {}, resetScroll: false });
  const showAdded = async (pet: Pet) => {
    adding.close();
    queryClient.setQueryData(animalKey(String(pet.id)), pet);
    await Promise.all([open(String(pet.id)), queryClient.invalidateQueries({ queryKey: ['animals'] })]);
  };
  const addButton = (
    <ScopedButton scope="pets:write" leftSection={<IconPlus size={16} aria-hidden />} onClick={adding.open}>
      Add an animal
    </ScopedButton>
  );
  return (
    <Page title="Animals" description="All animals of the store, oldest first" actions={addButton}>
      <Panel>
        <Stack gap="md">
          <div>
            <StatusFilter statuses={PET_STATUSES} value={status} onChange={filter} />
          </div>
          <AnimalsTable pages={pages} status={status} onOpen={(pet) => open(String(pet.id))} />
        </Stack>
      </Panel>
      <AnimalDrawer id={animal} listed={pages.query.isPending ? null : pages.items} onClose={close} />
      <AddAnimalDialog opened={isAdding} onClose={adding.close} onAdded={showAdded} />
    </Page>
  );
}

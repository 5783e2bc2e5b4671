import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { ListUsageQuery } from 'animal-store-client';
import { FormError } from '../feedback/form-error';
import { saveFile } from '../format/save-file';
import { useStore } from '../session/session';

interface DownloadCsvProps {
  /** The name of the file. */
  name: string;
  /** Returns the query of what the file contains, as of now. */
  query: () => ListUsageQuery;
}

/** Without this mark, Excel reads a file as of a code page of its country, not as UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** Saves all pages of the usage as one file. */
export function DownloadCsv({ name, query }: DownloadCsvProps) {
  const store = useStore();
  const download = useMutation({
    mutationFn: async () => {
      const pages = [BYTE_ORDER_MARK];
      for await (const page of store.usage.listCsv(query())) {
        pages.push(page);
      }
      saveFile(name, new Blob(pages, { type: 'text/csv' }));
    },
  });
  const { error, isPending } = download;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        loading={isPending}
        onClick={() => download.mutate()}
      >
        Download CSV
      </Button>
      {error !== null && (
        <FormError
          error={error}
          title="The CSV was not downloaded"
          noResponse="The service did not respond. Check the connection and try again."
        />
      )}
    </>
  );
}

import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { FormError } from '../feedback/form-error';
import { saveFile } from '../format/save-file';
import { serviceNowMs } from '../session/service-clock';

interface DownloadCsvProps {
  /** What the file contains, as a part of its name. */
  name: string;
  /** Returns the pages of the file, as of now. */
  list: () => AsyncIterable<string>;
}

/** Without this mark, Excel reads a file as of a code page of its country, not as UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** Saves all pages of a report as one file, whose name ends with the time in UTC: two of them differ. */
export function DownloadCsv({ name, list }: DownloadCsvProps) {
  const download = useMutation({
    mutationFn: async () => {
      const pages = [BYTE_ORDER_MARK];
      for await (const page of list()) {
        pages.push(page);
      }
      const time = new Date(serviceNowMs()).toISOString().slice(0, 19).replaceAll(':', '-');
      saveFile(`${name}-${time}Z.csv`, new Blob(pages, { type: 'text/csv' }));
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

import { Alert, Text } from '@mantine/core';
import type { CurrentKey } from 'animal-store-client';
import { Instant } from '../format/instant';
import { MaskedKey } from '../format/masked-key';
import { isKeyStored } from '../session/kept-key';
import { useOwnKey } from '../session/own-key';
import { serviceNowMs } from '../session/service-clock';
import { PAGE_WIDTH } from './page';

const SOON_MS = 7 * 86_400_000;

/** Warns above every page that the session or its key ends soon, and what to do about it. */
export function KeyNotice() {
  const { data: key } = useOwnKey();
  const content = key && (replacedNotice(key) ?? expiryNotice(key));
  return (
    <>
      {!isKeyStored() && (
        <Text c="dimmed" size="sm" maw={PAGE_WIDTH} mx="auto" mb="lg">
          You are signed in until the tab is reloaded: your browser stores nothing for this site.
        </Text>
      )}
      {content && <Alert color="orange" maw={PAGE_WIDTH} mx="auto" mb="lg" {...content} />}
    </>
  );
}

function replacedNotice({ successor, expiresAt }: CurrentKey) {
  if (successor === null) {
    return null;
  }
  const name = <MaskedKey apiKey={successor} />;
  const end = (
    <>
      This key works until <Instant at={expiresAt} />.
    </>
  );
  return {
    title: 'This key has been replaced',
    children:
      successor.revokedAt === null ? (
        <>
          {end} Put its successor {name} wherever you use this key, and sign in with that.
        </>
      ) : (
        <>
          {end} Its successor {name} was revoked: ask an administrator for another key.
        </>
      ),
  };
}

function expiryNotice({ expiresAt }: CurrentKey) {
  return expiresAt !== null && Date.parse(expiresAt) < serviceNowMs() + SOON_MS
    ? {
        title: 'This key expires soon',
        children: (
          <>
            It works until <Instant at={expiresAt} />. Ask an administrator for another key before that: a
            rotation does not extend it.
          </>
        ),
      }
    : null;
}

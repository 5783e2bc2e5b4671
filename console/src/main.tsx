import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console';
import { SessionProvider } from './session/session';
import styles from './styles.css?inline';
import { cssVariables, theme } from './theme';

/** Returns the nonce of this response, which the content security policy wants on styles added later. */
function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

// The styles come with the script, so that both are of one release, whichever replica responds.
const style = document.createElement('style');
style.nonce = styleNonce();
style.textContent = styles;
document.head.append(style);

// Dialogs lock the scrolling of the page by a style, with the nonce of this package.
setNonce(styleNonce());

// Its address is relative, and browsers resolve it again after each change of the page's own address.
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
icon?.setAttribute('href', icon.href);

const root = document.getElementById('root');
if (root === null) {
  throw new Error('The page has no element "root"');
}
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <Notifications position="bottom-right" />
      <SessionProvider>
        <Console />
      </SessionProvider>
    </MantineProvider>
  </StrictMode>,
);

/** The console signs in by the same entry, so a key is entered once. `sessionStorage` is the tab's own. */
const STORAGE_KEY = 'animal-store-api-key';
/** The name of the security scheme in both documents. */
const SCHEME = 'apiKey';

/** What the server accepts as the text of a key, apart from its checksum. */
const FORMAT = /^ask_(live|test)_[0-9A-Za-z]{38}$/;

/** The key that the browser could not store, because it blocks the data of sites or has no space left. */
let unstored = null;

function withStorage(use) {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

/** Keeps a key, or forgets it. A key that cannot be stored is kept until the page is loaded again. */
function keep(key) {
  withStorage((storage) => storage.removeItem(STORAGE_KEY));
  unstored = key;
  if (key !== null) {
    withStorage((storage) => {
      storage.setItem(STORAGE_KEY, key);
      unstored = null;
    });
  }
}

/** Replaces the dialogs for keys by one field. Every request carries its key, which the tab keeps. */
export const sessionKey = {
  wrapComponents: {
    AuthorizeBtnContainer: (_Dialog, { React, authActions, specSelectors }) => {
      const create = React.createElement;
      return () => {
        const [key, setKey] = React.useState(
          () => unstored ?? withStorage((storage) => storage.getItem(STORAGE_KEY)),
        );
        React.useEffect(() => {
          if (key !== null) {
            const schema = specSelectors.securityDefinitions().get(SCHEME);
            authActions.authorize({ [SCHEME]: { name: SCHEME, schema, value: key } });
          }
        }, [key]);
        const [isMalformed, setMalformed] = React.useState(false);
        const use = (event) => {
          event.preventDefault();
          const entered = new FormData(event.target).get('key').trim();
          setMalformed(!FORMAT.test(entered));
          if (!FORMAT.test(entered)) {
            return;
          }
          keep(entered);
          setKey(entered);
        };
        const forget = () => {
          keep(null);
          authActions.logout([SCHEME]);
          setKey(null);
        };
        return create(
          'section',
          { className: 'session-key', 'aria-label': 'API key' },
          key === null
            ? create(
                'form',
                { onSubmit: use },
                create(
                  'label',
                  null,
                  withStorage(() => true) === null
                    ? 'API key, kept until the tab is reloaded: your browser stores nothing for this site'
                    : 'API key, kept for this tab only',
                  create('input', { name: 'key', type: 'password', autoComplete: 'off', required: true }),
                ),
                create('button', { className: 'btn' }, 'Use this key'),
                isMalformed
                  ? create(
                      'p',
                      { className: 'field-error', role: 'alert' },
                      'Enter a whole key: ask_live_ or ask_test_, then 38 letters and digits.',
                    )
                  : create('p', { className: 'hint' }, 'Ask an administrator of the store for a key.'),
              )
            : create(
                'p',
                null,
                'Requests carry the key ending in ',
                create('code', null, key.slice(-4)),
                ' and count against it. ',
                create('button', { className: 'btn', onClick: forget }, 'Forget it'),
              ),
        );
      };
    },
    authorizeOperationBtn: () => () => null,
  },
};

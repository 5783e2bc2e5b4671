/** The console signs in by the same entry, so a key is entered once. `sessionStorage` is the tab's own. */
const STORAGE_KEY = 'animal-store-api-key';
/** The name of the security scheme in both documents. */
const SCHEME = 'apiKey';

/** Replaces the dialogs for keys by one field. Every request carries its key, which the tab keeps. */
export const sessionKey = {
  wrapComponents: {
    AuthorizeBtnContainer: (_Dialog, { React, authActions, specSelectors }) => {
      const create = React.createElement;
      return () => {
        const [key, setKey] = React.useState(sessionStorage.getItem(STORAGE_KEY));
        React.useEffect(() => {
          if (key !== null) {
            const schema = specSelectors.securityDefinitions().get(SCHEME);
            authActions.authorize({ [SCHEME]: { name: SCHEME, schema, value: key } });
          }
        }, [key]);
        const use = (event) => {
          event.preventDefault();
          const entered = new FormData(event.target).get('key').trim();
          sessionStorage.setItem(STORAGE_KEY, entered);
          setKey(entered);
        };
        const forget = () => {
          sessionStorage.removeItem(STORAGE_KEY);
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
                  'API key, kept for this tab only',
                  create('input', { name: 'key', type: 'password', autoComplete: 'off', required: true }),
                ),
                create('button', { className: 'btn' }, 'Use this key'),
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

/**
 * Gives names to fields of Swagger UI that have none. Shows the addresses instead of a choice of servers,
 * because the policy of the page lets it send requests to its own server only.
 */
export const plainComponents = ({ React, getComponent }) => ({
  components: {
    // Swagger UI logs that a list of int64 has no component for its items.
    JsonSchema_integer_int64: (props) => React.createElement(getComponent('JsonSchema_string'), props),
  },
  wrapComponents: {
    // The original is a link within a button.
    DeepLink:
      () =>
      ({ text }) =>
        React.createElement('span', null, text),
    ExamplesSelect: labelled(() => 'Example'),
    JsonSchemaForm: withError(labelled(({ description }) => description)),
    // The fields are below the example, so the tabs that choose between them are hidden.
    modelExample: (ModelExample) => (props) => {
      const fields = React.useRef(null);
      React.useEffect(() => {
        for (const button of fields.current?.querySelectorAll('button') ?? []) {
          // That of a list's items has no text.
          button.ariaLabel = button.textContent === '' ? 'Items' : null;
        }
      });
      return React.createElement(
        React.Fragment,
        null,
        React.createElement(ModelExample, props),
        !isOfError(props.specPath) &&
          React.createElement(
            'div',
            { className: 'fields', ref: fields },
            React.createElement(getComponent('ModelWrapper'), {
              ...props,
              fullPath: props.specPath.toJS(),
            }),
          ),
      );
    },
    RequestBodyEditor: labelled(() => 'Request body'),
    responses: (Responses) => (props) => {
      const element = React.useRef(null);
      React.useEffect(() => {
        const region = element.current.querySelector('[role="region"]');
        region.ariaLabel = `Responses of ${props.method.toUpperCase()} ${props.path}`;
      });
      return React.createElement('div', { ref: element }, React.createElement(Responses, props));
    },
    ServersContainer:
      (_Servers, { specSelectors }) =>
      () => {
        const addresses = specSelectors.servers().map((server) => {
          const url = server.get('url');
          return React.createElement(
            'div',
            { key: url },
            React.createElement('dt', null, server.get('description')),
            React.createElement('dd', null, new URL(url, document.baseURI).href.replace(/\/$/, '')),
          );
        });
        return React.createElement(
          'section',
          { className: 'addresses', 'aria-label': 'Addresses' },
          React.createElement('dl', null, addresses),
        );
      },
    // What scrolls can be reached with the keyboard.
    SyntaxHighlighter: (SyntaxHighlighter) => (props) =>
      React.createElement(
        'div',
        { className: 'code', tabIndex: 0, role: 'group', 'aria-label': 'Code' },
        React.createElement(SyntaxHighlighter, props),
      ),
    // Events are requests to a receiver, so nothing of them can be tried here.
    Webhooks: () => () => null,
  },
});

/** Returns whether a part of the document describes an error, which all have the same fields. */
const isOfError = (path) => /^[45]/.test(path.get(path.indexOf('responses') + 1));

/** Returns a wrapper that shows the errors of a field below it, and focuses the first field with an error. */
function withError(wrap) {
  return (Field, system) => {
    const { React } = system;
    const Labelled = wrap(Field, system);
    return (props) => {
      const element = React.useRef(null);
      // Those of a list are objects, each with the index of its item.
      const errors = [...(props.errors ?? [])].map((each) => each?.get?.('error') ?? each?.error ?? each);
      const message = errors.join('. ');
      React.useEffect(() => {
        if (message !== '') {
          element.current.closest('.opblock').querySelector('.invalid')?.focus();
        }
      }, [message]);
      return React.createElement(
        'div',
        { ref: element },
        React.createElement(Labelled, props),
        message !== '' && React.createElement('p', { className: 'field-error', role: 'alert' }, message),
      );
    };
  };
}

/** Returns a wrapper that gives the field of a component a name. */
function labelled(nameOf) {
  return (Field, { React }) =>
    (props) =>
      React.createElement(
        'label',
        null,
        React.createElement('span', { className: 'hidden-label' }, nameOf(props)),
        React.createElement(Field, props),
      );
}

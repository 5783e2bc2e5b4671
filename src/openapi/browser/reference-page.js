/* Runs in the browser before Swagger UI's bundle. Configures Swagger UI, and adds features that its options do not offer. */
{
  const AUTHORIZED = 'authorized';
  const DARK = matchMedia('(prefers-color-scheme: dark)');

  const followColorScheme = () => document.documentElement.classList.toggle('dark-mode', DARK.matches);

  /** Keeps the API key until the tab is closed. Swagger UI's own `persistAuthorization` keeps it in localStorage without an end. */
  const keyOfTab = () => ({
    statePlugins: {
      auth: {
        wrapActions: {
          persistAuthorizationIfNeeded:
            (_original, { authSelectors }) =>
            () =>
              sessionStorage.setItem(AUTHORIZED, JSON.stringify(authSelectors.authorized().toJS())),
        },
      },
      configs: {
        wrapActions: {
          loaded:
            (original, { authActions }) =>
            (...args) => {
              original(...args);
              const kept = sessionStorage.getItem(AUTHORIZED);
              if (kept !== null) {
                authActions.restoreAuthorization({ authorized: JSON.parse(kept) });
              }
            },
        },
      },
    },
  });

  /** Filters operations by method, path, summary, name or tag; Swagger UI filters by tag only. */
  const operationFilter = ({ React }) => ({
    components: {
      FilterContainer: ({ layoutSelectors, layoutActions }) => {
        const phrase = layoutSelectors.currentFilter();
        return React.createElement(
          'div',
          { className: 'wrapper operation-filter' },
          React.createElement('input', {
            type: 'search',
            className: 'operation-filter-input',
            placeholder: 'Filter operations',
            'aria-label': 'Filter operations',
            value: typeof phrase === 'string' ? phrase : '',
            onChange: ({ target }) => layoutActions.updateFilter(target.value),
          }),
        );
      },
    },
    fn: {
      opsFilter: (tags, phrase) => {
        const words = phrase.toLowerCase().split(/\s+/);
        const matches = (tag) => (item) => {
          const operation = item.get('operation');
          const text = [
            tag,
            item.get('method'),
            item.get('path'),
            operation.get('operationId'),
            operation.get('summary'),
          ]
            .join(' ')
            .toLowerCase();
          return words.every((word) => text.includes(word));
        };
        return tags
          .map((details, tag) => details.update('operations', (items) => items.filter(matches(tag))))
          .filter((details) => details.get('operations').size > 0);
      },
    },
  });

  /** Shows a badge beside the path of an operation that is deprecated or not stable. */
  const lifecycleBadges = ({ React, specSelectors }) => ({
    wrapComponents: {
      OperationSummaryPath: (Original) => (props) => {
        const { path, method } = props.operationProps.toObject();
        const operation = specSelectors.specJson().getIn(['paths', path, method]);
        const stability = operation.get('x-stability');
        const badge = (kind, text) =>
          React.createElement('span', { key: kind, className: `badge badge-${kind}` }, text);
        return React.createElement(
          React.Fragment,
          null,
          React.createElement(Original, props),
          stability === 'stable' ? null : badge(stability, stability),
          operation.get('deprecated') === true
            ? badge('deprecated', `deprecated, removed on ${operation.get('x-sunset')}`)
            : null,
        );
      },
    },
  });

  followColorScheme();
  DARK.addEventListener('change', followColorScheme);

  globalThis.showReference = (spec) =>
    globalThis.SwaggerUIBundle({
      dom_id: '#swagger-ui',
      spec,
      deepLinking: true,
      displayRequestDuration: true,
      filter: true,
      validatorUrl: null,
      plugins: [keyOfTab, operationFilter, lifecycleBadges],
    });
}

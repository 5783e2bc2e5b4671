/** Wide enough for the list of operations beside them, as the style sheet has it. */
const WIDE = matchMedia('(min-width: 60rem)');

/**
 * Lays out the page: the field for the key and the list of operations come first, then the operations, of
 * which the first is open. What holds for all of them is in sections that a reader opens.
 */
export const layout = ({ React, getComponent }) => {
  const create = React.createElement;
  return {
    components: {
      ReferenceLayout: ({ specSelectors, layoutActions }) => {
        const info = specSelectors.info();
        if (info.size === 0) {
          // It says that the document is being loaded, or why it could not be.
          return create(getComponent('BaseLayout', true));
        }
        const [InfoContainer, Key, Operations, Schemas, Servers, Errors] = [
          'InfoContainer',
          'AuthorizeBtnContainer',
          'operations',
          'Models',
          'ServersContainer',
          'errors',
        ].map((name) => getComponent(name, true));
        return create(
          'div',
          { className: 'swagger-ui reference' },
          create(
            'aside',
            { className: 'sidebar', 'aria-label': 'Key and operations' },
            create(Key),
            create(OperationList, { React, tags: specSelectors.taggedOperations(), layoutActions }),
          ),
          create(
            'main',
            { id: 'operations', tabIndex: -1 },
            create(
              'hgroup',
              null,
              create('h1', null, info.get('title')),
              create('p', null, `Version ${info.get('version')}`),
            ),
            create(getComponent('SvgAssets')),
            create(Errors),
            create(
              'details',
              { className: 'about' },
              create('summary', null, 'About: keys, limits, errors, addresses'),
              create(InfoContainer),
              create(Servers),
            ),
            create('h2', { className: 'hidden-label' }, 'Operations'),
            create(Operations),
            create(Schemas),
          ),
        );
      },
    },
    statePlugins: {
      layout: {
        wrapSelectors: {
          // Without an operation in the address, the first is open.
          isShown:
            (isShown, { specSelectors }) =>
            (_state, key, byDefault) =>
              isShown(key, byDefault || (!OPENED_BY_ADDRESS && isFirst(specSelectors, key))),
        },
      },
    },
  };
};

const OPENED_BY_ADDRESS = /^#\/./.test(location.hash);

function isFirst(specSelectors, [type, tag, id, ...rest]) {
  const [first] = specSelectors.taggedOperations();
  return (
    type === 'operations' &&
    rest.length === 0 &&
    first?.[0] === tag &&
    first[1].getIn(['operations', 0, 'operation', 'operationId']) === id
  );
}

/** Lists the operations by their tags. Each link opens its operation, and leads to it. */
function OperationList({ React, tags, layoutActions }) {
  const create = React.createElement;
  const badge = (operation) => {
    const stability = operation.get('x-stability');
    const text = operation.get('deprecated') === true ? 'deprecated' : stability;
    return text !== undefined && text !== 'stable' && create('small', { className: text }, ` ${text}`);
  };
  return create(
    'details',
    { className: 'operation-list', open: WIDE.matches },
    create('summary', null, 'Operations'),
    create(
      'nav',
      { 'aria-label': 'Operations' },
      tags.entrySeq().map(([tag, group]) =>
        create(
          'section',
          { key: tag },
          create('h2', null, tag),
          create(
            'ul',
            null,
            group.get('operations').map((each) => {
              const id = each.getIn(['operation', 'operationId']);
              const open = () => {
                if (document.querySelector(`#operations-tag-${tag}[data-is-open=false]`) !== null) {
                  layoutActions.show(['operations-tag', tag], true);
                }
                layoutActions.show(['operations', tag, id], true);
                requestAnimationFrame(() =>
                  document.querySelector(`#operations-${tag}-${id}`).scrollIntoView(),
                );
              };
              return create(
                'li',
                { key: id },
                create(
                  'a',
                  { href: `#/${tag}/${id}`, onClick: open },
                  create('span', { className: `method ${each.get('method')}` }, each.get('method')),
                  create('span', null, each.getIn(['operation', 'summary']), badge(each.get('operation'))),
                ),
              );
            }),
          ),
        ),
      ),
    ),
  );
}

/** A request without a valid key has no headers of the key. */
const NO_VALID_KEY_STATUS = '401';
/** Stable operations share the descriptions of their errors with the others, but never have it. */
const ONLY_IF_UNSTABLE = 'X-Stability';

/**
 * Describes each response header once: those of every response above the operations, the others of an
 * operation below its responses.
 */
export const sharedHeaders = {
  wrapComponents: {
    InfoContainer: (InfoContainer, { React, getComponent, specSelectors }) => {
      const create = React.createElement;
      return (props) =>
        create(
          'section',
          { 'aria-label': 'About' },
          create(InfoContainer, props),
          create(
            'details',
            { className: 'shared-headers wrapper' },
            create('summary', null, create('h2', null, 'Headers of every response')),
            create(HeaderTable, { React, getComponent, rows: ofEveryOperation(specSelectors.specJson()) }),
          ),
        );
    },
    responses: (Responses, { React, getComponent, specSelectors }) => {
      const create = React.createElement;
      return (props) => {
        const { responses } = props;
        const bare = React.useMemo(
          () => responses.map((response) => response.delete('headers')),
          [responses],
        );
        const shared = ofEveryOperation(specSelectors.specJson());
        const rows = describe(responses).filter(
          (row) => !row.isOfAll || !shared.some((other) => isSame(row, other)),
        );
        return create(
          React.Fragment,
          null,
          create(Responses, { ...props, responses: bare }),
          rows.length > 0 &&
            create(
              'div',
              { className: 'shared-headers' },
              create('h4', null, 'Headers'),
              create(HeaderTable, { React, getComponent, rows }),
              create('p', null, 'Every response also has those described at the top of this page.'),
            ),
        );
      };
    },
  },
};

function HeaderTable({ React, getComponent, rows }) {
  const create = React.createElement;
  const Markdown = getComponent('Markdown', true);
  return create(
    'table',
    { className: 'headers' },
    create(
      'thead',
      null,
      create(
        'tr',
        null,
        ...['Name', 'Status', 'Description'].map((name) => create('th', { scope: 'col' }, name)),
      ),
    ),
    create(
      'tbody',
      null,
      rows.map(({ name, statuses, isOfAll, description }) =>
        create(
          'tr',
          { key: name + description },
          create('td', null, create('code', null, name)),
          create('td', null, isOfAll ? 'all' : statuses.join(', ')),
          create('td', null, create(Markdown, { source: description })),
        ),
      ),
    ),
  );
}

const isSame = (row, other) => row.name === other.name && row.description === other.description;

/** Returns the headers of these responses, each with the statuses that have it. */
function describe(responses) {
  const rows = [];
  for (const [status, response] of responses) {
    for (const [name, header] of response.get('headers') ?? []) {
      const row = { name, description: header.get('description'), statuses: [status] };
      const known = rows.find((other) => isSame(row, other));
      if (known === undefined) {
        rows.push(row);
      } else {
        known.statuses.push(status);
      }
    }
  }
  const statuses = [...responses.keys()].filter((status) => status !== NO_VALID_KEY_STATUS);
  return rows
    .map((row) => ({ ...row, isOfAll: statuses.every((status) => row.statuses.includes(status)) }))
    .filter(({ name, isOfAll }) => name !== ONLY_IF_UNSTABLE || isOfAll);
}

let readDocument;
let found = [];

/** Returns the headers of every response of a document. */
function ofEveryOperation(document) {
  if (document !== readDocument) {
    const resolved = (value) =>
      value.has('$ref') ? document.getIn(value.get('$ref').split('/').slice(1)) : value;
    const [first, ...others] = document
      .get('paths')
      .valueSeq()
      .flatMap((item) => item.valueSeq())
      .map((operation) =>
        describe(
          operation
            .get('responses')
            .map(resolved)
            .map((response) => response.update('headers', (headers) => headers.map(resolved))),
        ),
      );
    readDocument = document;
    found = first.filter(
      (row) =>
        row.isOfAll && others.every((rows) => rows.some((other) => other.isOfAll && isSame(other, row))),
    );
  }
  return found;
}

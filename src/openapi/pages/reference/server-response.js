/** Shows the response below the button that requests it, and scrolls to it. Swagger UI shows it far below. */
export const serverResponse = ({ React, getComponent, getConfigs, specSelectors }) => {
  const create = React.createElement;

  function ServerResponse({ path, method }) {
    const response = specSelectors.responseFor(path, method) ?? null;
    const element = React.useRef(null);
    const announcement = React.useRef(null);
    const shown = React.useRef(response);
    React.useEffect(() => {
      // A new text is read aloud, even if it is the same as before.
      announcement.current.replaceChildren(response === null ? '' : summarize(response));
      if (response !== null && response !== shown.current) {
        const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
        element.current
          .querySelector('tbody .response-col_status')
          .scrollIntoView({ behavior, block: 'nearest' });
      }
      shown.current = response;
    }, [response]);
    return create(
      'div',
      { className: 'server-response', ref: element },
      create('p', { className: 'hidden-label', role: 'status', ref: announcement }),
      response &&
        create(getComponent('liveResponse'), {
          response,
          path,
          method,
          getComponent,
          getConfigs,
          specSelectors,
          displayRequestDuration: true,
        }),
    );
  }

  return {
    wrapComponents: {
      execute: (Execute) => (props) =>
        create(
          React.Fragment,
          null,
          create(Execute, props),
          create(ServerResponse, { path: props.path, method: props.method }),
        ),
      responses: (Responses) => (props) => create(Responses, { ...props, tryItOutResponse: undefined }),
    },
  };
};

const summarize = (response) =>
  response.has('status') ? `Response ${response.get('status')}` : `No response: ${response.get('message')}`;

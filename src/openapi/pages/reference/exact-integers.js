/**
 * Returns a plugin that shows integers of a response as they came, and an interceptor that sends those of a
 * body as entered. Swagger UI parses both, which rounds integers beyond 2^53.
 */
export function exactIntegers() {
  let entered;
  return {
    requestInterceptor: (request) => {
      if (request.body !== undefined && request.loadSpec !== true) {
        request.body = entered;
      }
      return request;
    },
    plugin: {
      statePlugins: {
        spec: {
          wrapActions: {
            executeRequest:
              (execute, { oas3Selectors }) =>
              (request) => {
                entered = oas3Selectors.requestBodyValue(request.pathName, request.method);
                return execute(request);
              },
          },
        },
      },
      wrapComponents: {
        responseBody:
          (ResponseBody, { React }) =>
          (props) =>
            React.createElement(
              ResponseBody,
              /json/i.test(props.contentType)
                ? { ...props, content: indentJson(props.content), contentType: 'text/plain' }
                : props,
            ),
      },
    },
  };
}

/** Returns a JSON text indented, with its numbers as they are; the text itself if it is not JSON. */
function indentJson(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  const newline = (change) => `\n${'  '.repeat((depth += change))}`;
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\[\s*\]|\{\s*\}|[[{]|[\]}]|,|:|\s+/g, (token) => {
    if (/^[[{]$/.test(token)) {
      return token + newline(1);
    }
    if (/^[\]}]$/.test(token)) {
      return newline(-1) + token;
    }
    return token === ',' ? token + newline(0) : token === ':' ? ': ' : token.trim();
  });
}

import { indentJson, isJson, jsonParts } from './json-text';

/** Shows a body: JSON indented and in colours, anything else as it is. */
export function JsonView({ text }: { text: string }) {
  return (
    <pre className="try-code" tabIndex={0} role="region" aria-label="Response body">
      {isJson(text)
        ? jsonParts(indentJson(text)).map(({ kind, text: part }, index) => (
            // The parts have no identity but their order.
            <span key={index} data-kind={kind}>
              {part}
            </span>
          ))
        : text}
    </pre>
  );
}

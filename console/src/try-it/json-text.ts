const TOKENS = /"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Returns whether the text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the JSON with line breaks and indentation; every number, string and duplicate name stays as it is written. */
export function indentJson(text: string): string {
  let depth = 0;
  let previous = '';
  let result = '';
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const [token] of text.matchAll(TOKENS)) {
    const isEnd = token === '}' || token === ']';
    depth -= isEnd ? 1 : 0;
    const isAfterStart = previous === '{' || previous === '[';
    if ((isAfterStart && !isEnd) || (!isAfterStart && isEnd) || previous === ',') {
      result += newLine();
    }
    result += token === ':' ? ': ' : token;
    depth += token === '{' || token === '[' ? 1 : 0;
    previous = token;
  }
  return result;
}

type JsonPartKind = 'name' | 'string' | 'number' | 'word' | 'mark';

/** Returns the text in parts by kind, for colours. Joined, they are the text again. */
export function jsonParts(text: string): { kind: JsonPartKind; text: string }[] {
  const parts = /("(?:[^"\\]+|\\.)*")(?=(\s*:)?)|(-?\d[\d.eE+-]*)|(true|false|null)|[^"\d\-tfn]+|./g;
  return [...text.matchAll(parts)].map(([part, string, colon, number, word]) => ({
    text: part,
    kind:
      string !== undefined
        ? colon === undefined
          ? 'string'
          : 'name'
        : number !== undefined
          ? 'number'
          : word !== undefined
            ? 'word'
            : 'mark',
  }));
}

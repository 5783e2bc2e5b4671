/**
 * Resolves the references of a document, which lead to its own components. Swagger UI would read the whole
 * document anew for each operation that is opened, which takes a second.
 */
export const references = {
  fn: {
    resolveSubtree: async (document, path, { baseDoc }) => {
      const at = (names) => names.reduce((each, name) => each?.[name], document);
      const resolve = (value, within) => {
        if (value === null || typeof value !== 'object') {
          return value;
        }
        if (Array.isArray(value)) {
          return value.map((item) => resolve(item, within));
        }
        const { $ref, ...own } = value;
        const resolved = Object.fromEntries(
          Object.entries(own).map(([name, each]) => [name, resolve(each, within)]),
        );
        if ($ref === undefined || within.includes($ref)) {
          return { ...value, ...resolved };
        }
        const [, ...names] = $ref.split('/');
        // Swagger UI reads the name of a schema from the address.
        return { ...resolve(at(names), [...within, $ref]), ...resolved, $$ref: baseDoc + $ref };
      };
      return { errors: [], spec: resolve(at(path), []) };
    },
  },
};

import { referencedComponents } from './components.js';

const refer = (name: string) => ({ $ref: `#/components/${name}` });

describe('referencedComponents', () => {
  const components = {
    schemas: {
      Pet: { properties: { status: refer('schemas/PetStatus') } },
      PetStatus: { type: 'string' },
      Tree: { items: refer('schemas/Tree') },
      Key: { type: 'object' },
    },
    headers: { ETag: { schema: {} }, Location: { schema: {} } },
  };

  it('returns what the paths refer to, directly or through another component', () => {
    const paths = { '/pets': { get: { a: [refer('schemas/Pet'), refer('headers/ETag')] } } };
    const { schemas, headers } = referencedComponents(paths as never, components);
    expect([Object.keys(schemas), Object.keys(headers)]).toEqual([['Pet', 'PetStatus'], ['ETag']]);
  });

  it('returns a component that refers to itself', () => {
    const { schemas } = referencedComponents({ '/trees': refer('schemas/Tree') }, components);
    expect(Object.keys(schemas)).toEqual(['Tree']);
  });
});

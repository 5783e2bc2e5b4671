import { curlCommand } from './curl';

describe('curlCommand', () => {
  const request = { method: 'GET', url: 'http://localhost/v1/pets?limit=3', headers: [], body: null };

  it('names a variable in the place of the key', () => {
    expect(curlCommand(request, null)).toBe(
      `curl -i 'http://localhost/v1/pets?limit=3' \\\n  -H "Authorization: Bearer $ANIMAL_STORE_KEY"`,
    );
  });

  it('has the method, the headers, the body and the key', () => {
    expect(
      curlCommand(
        { ...request, method: 'POST', headers: [['Idempotency-Key', 'a b']], body: '{"name":"Rex"}' },
        'ask_test_1',
      ),
    ).toBe(
      [
        `curl -i -X POST 'http://localhost/v1/pets?limit=3'`,
        `-H 'Authorization: Bearer ask_test_1'`,
        `-H 'Idempotency-Key: a b'`,
        `--data-raw '{"name":"Rex"}'`,
      ].join(' \\\n  '),
    );
  });

  it('quotes single quotes, and leaves everything else to the quotes', () => {
    const body = `it's $HOME \`id\` \\ "x" !1\n@file`;
    expect(curlCommand({ ...request, body }, null)).toContain(
      `--data-raw 'it'\\''s $HOME \`id\` \\ "x" !1\n@file'`,
    );
  });
});

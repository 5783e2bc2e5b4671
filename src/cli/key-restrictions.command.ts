import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { RestrictKeyInput } from '../admin/keys/key.schemas.js';
import { KeyReader } from '../admin/keys/key-reader.service.js';
import { KeyService } from '../admin/keys/key.service.js';
import { SUGGESTION_DAYS_DEFAULT, SUGGESTION_DAYS_MAX } from '../admin/keys/scope-suggestion.schemas.js';
import { restrictions } from '../schemas/restrictions.js';
import { parsedBy, wholeNumber } from './arguments.js';
import { changeCommand, type ChangeOptions, withServices } from './command.js';
import { findKeyId } from './key-id.js';
import { keyOutput } from './key-output.js';
import { linesText, tableText } from './output/text.js';

interface ScopeOptions extends ChangeOptions {
  set?: RestrictKeyInput['scopes'];
  suggest?: true;
  days: number;
}

/** Returns an option with the scopes of a key. */
export const scopesOption = (flags: string) =>
  listOption(flags, 'what it may do, such as pets:read,orders:read, or "all"', restrictions.scopes, 'all');

/** Returns the option with the networks of a key. */
export const allowOption = () =>
  listOption(
    '--allow <list>',
    'networks such as 203.0.113.0/24,2001:db8::/32, or "any"; behind a proxy, set TRUST_PROXY',
    restrictions.allowedNetworks,
    'any',
  );

/** The commands of `keys` about what a key may do, and from where. */
export const keyRestrictions: Command[] = [
  changeCommand('scopes', 'set what a key may do, or show what it needs')
    .argument('<id>', 'id of the key')
    .addOption(scopesOption('--set <list>'))
    .addOption(
      new Option('--suggest', 'show which scopes its requests needed, and change nothing').conflicts('set'),
    )
    .addOption(
      new Option('--days <n>', 'UTC days that --suggest reads, today included')
        .argParser(wholeNumber(SUGGESTION_DAYS_MAX))
        .default(SUGGESTION_DAYS_DEFAULT)
        .conflicts('set'),
    )
    .hook('preAction', requireSetOrSuggest)
    .action(
      withServices(async (services, text: string, { set: scopes, suggest, days, as }: ScopeOptions) => {
        const id = await findKeyId(services, text);
        if (!suggest) {
          return keyOutput(await services.get(KeyService).restrict(id, { scopes }, as));
        }
        const suggestion = await services.get(KeyReader).suggestScopes(id, days);
        const rows = suggestion.scopes.map(({ lastAt: last, ...used }) => ({ ...used, last }));
        return { value: suggestion, text: () => tableText(rows) + linesText(`Since ${suggestion.since}.`) };
      }),
    ),

  changeCommand('networks', 'set from where a key may be used')
    .argument('<id>', 'id of the key')
    .addOption(allowOption().makeOptionMandatory())
    .action(
      withServices(async (services, text: string, options: ChangeOptions & { allow: string[] }) => {
        const { allow: allowedNetworks, as } = options;
        const id = await findKeyId(services, text);
        return keyOutput(await services.get(KeyService).restrict(id, { allowedNetworks }, as));
      }),
    ),
];

/** Returns an option that takes a list, separated by commas, or the word for no restriction. */
function listOption(flags: string, description: string, schema: z.ZodType, none: string): Option {
  const items = z.preprocess(
    (text) =>
      String(text)
        .split(',')
        .map((item) => item.trim()),
    schema,
  );
  // An empty list also removes the restriction, and Commander takes no null.
  return new Option(flags, description).argParser((text) => (text === none ? [] : parsedBy(items)(text)));
}

function requireSetOrSuggest(command: Command): void {
  const { set, suggest } = command.opts<ScopeOptions>();
  if (set === undefined && suggest === undefined) {
    command.error('error: give --set or --suggest');
  }
}

import type { INestApplicationContext } from '@nestjs/common';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { Key } from '../admin/keys/key.schemas.js';
import { KeyService } from '../admin/keys/key.service.js';
import {
  type ScopeSuggestion,
  SUGGESTION_DAYS_DEFAULT,
  SUGGESTION_DAYS_MAX,
} from '../admin/keys/scope-suggestion.schemas.js';
import { ScopeSuggestionService } from '../admin/keys/scope-suggestion.service.js';
import type { Scope } from '../http/rules/scope.js';
import { networkSet, scopeSet } from '../schemas/restrictions.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { parsedBy, wholeNumber } from './arguments.js';
import { changeCommand, type ChangeOptions, withServices } from './command.js';
import { findKeyId } from './key-id.js';
import { keyOutput } from './key-output.js';
import { linesText, type Output, tableText } from './output/text.js';

interface ScopeOptions extends ChangeOptions {
  set?: Scope[];
  suggest?: true;
  days: number;
}

/** The commands of `keys` about what a key may do, and from where. */
export const keyRestrictions: Command[] = [
  changeCommand('scopes', 'set what a key may do, or show what it needs')
    .argument('<id>', 'id of the key')
    .addOption(
      setOption('--set <list>', 'scopes, such as pets:read,orders:read', scopeSet).conflicts([
        'all',
        'suggest',
      ]),
    )
    .addOption(new Option('--all', 'everything that its role may').conflicts('suggest'))
    .option('--suggest', 'show which scopes its requests needed, and change nothing')
    .option(
      '--days <n>',
      'UTC days that --suggest reads, today included',
      wholeNumber(SUGGESTION_DAYS_MAX),
      SUGGESTION_DAYS_DEFAULT,
    )
    .hook('preAction', requireOneOf('set', 'all', 'suggest'))
    .action(
      withServices(async (services, text: string, { set, suggest, days, as }: ScopeOptions) => {
        const id = await findKeyId(services, text);
        return suggest
          ? suggestionOutput(await services.get(ScopeSuggestionService).suggest(id, days))
          : keyOutput(await services.get(KeyService).restrict(id, { scopes: set ?? null }, as));
      }),
    ),

  changeCommand('networks', 'set from where a key may be used')
    .argument('<id>', 'id of the key')
    .addOption(
      setOption('--allow <list>', 'networks, such as 203.0.113.0/24,2001:db8::/32', networkSet).conflicts(
        'any',
      ),
    )
    .option('--any', 'any address')
    .hook('preAction', requireOneOf('allow', 'any'))
    .action(
      withServices(async (services, text: string, { allow, as }: ChangeOptions & { allow?: string[] }) => {
        const id = await findKeyId(services, text);
        const key = await services.get(KeyService).restrict(id, { allowedNetworks: allow ?? null }, as);
        const { value, text: fields } = keyOutput(key);
        return { value, text: async () => `${await fields()}${linesText(...addressHint(services, key))}` };
      }),
    ),
];

/** Returns an option that takes a list, separated by commas. */
export function setOption<Value>(flags: string, description: string, schema: z.ZodType<Value>): Option {
  return new Option(flags, description).argParser((text) => parsedBy(schema)(text.split(',') as never));
}

/** Returns a line about addresses behind a proxy, for a key that may be used from some networks only. */
export function addressHint(
  services: INestApplicationContext,
  { allowedNetworks }: Pick<Key, 'allowedNetworks'>,
): string[] {
  const { TRUST_PROXY } = services.get<Environment>(ENVIRONMENT);
  return allowedNetworks === null || TRUST_PROXY !== undefined
    ? []
    : ['TRUST_PROXY is not set here: behind a proxy, all requests would come from its address.'];
}

function requireOneOf(...names: string[]) {
  return (command: Command): void => {
    const options = command.opts<Record<string, unknown>>();
    if (names.every((name) => options[name] === undefined)) {
      command.error(`error: give ${names.map((name) => `--${name}`).join(' or ')}`);
    }
  };
}

function suggestionOutput(suggestion: ScopeSuggestion): Output {
  const { used, unused, since } = suggestion;
  const rows = [
    ...used.map(({ scope, requests, lastAt }) => ({ scope, requests, last: lastAt })),
    ...unused.map((scope) => ({ scope, requests: 0, last: null })),
  ];
  const needed = used.map(({ scope }) => scope).join(',');
  const advice =
    used.length === 0 ? 'No request since then needed a scope.' : `Its requests needed: --set ${needed}`;
  return { value: suggestion, text: () => tableText(rows) + linesText(`Since ${since}.`, advice) };
}

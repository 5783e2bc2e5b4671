import type { INestApplicationContext } from '@nestjs/common';
import { type Command, Option } from 'commander';
import { CreateKeyInput, type Key, keyName, keyNote } from '../keys/key.schemas.js';
import { KeyService } from '../keys/key.service.js';
import { expiry, listOrWord, overlap, parsedBy, positiveInteger } from './arguments.js';
import { changeCommand, type ChangeOptions, requireOption, withServices } from './command.js';
import { findGivenKeyId, findKeyId } from './key-id.js';
import { issuedOutput, keyOutput, keyText, limitsText, limitWarnings } from './key-output.js';
import { confirm } from './output/confirmation.js';

const OVERLAP_DEFAULT = '24h';
const SCOPES = 'what it may do, such as pets:read,orders:read, or "all"';
const NETWORKS = 'networks such as 203.0.113.0/24,2001:db8::/32, or "any"; behind a proxy, set TRUST_PROXY';

const { scopes, allowedNetworks } = CreateKeyInput.shape;
const scopesOption = (flags: string) => new Option(flags, SCOPES).argParser(listOrWord(scopes, 'all'));
const allowOption = () =>
  new Option('--allow <list>', NETWORKS).argParser(listOrWord(allowedNetworks, 'any'));

/** A quota's own limits, which override its plan's. */
type OwnLimits = Pick<CreateKeyInput, 'perMinute' | 'perDay'>;

interface IssueOptions extends ChangeOptions, CreateKeyInput {
  expires?: Date;
  allow?: string[];
}

interface LabelOptions extends ChangeOptions {
  name?: string;
  /** False for `--no-note`. */
  note?: string | false;
}

/** The commands of `keys` that change one. */
export const keyChanges: Command[] = [
  changeCommand('issue', 'issue a key, with a quota of its own or on that of another; it is shown only once')
    .requiredOption('--name <name>', 'name of the key', parsedBy(keyName))
    .option('--note <text>', 'note of administrators on the key', parsedBy(keyNote))
    .option('--plan <plan>', 'free, pro, business, enterprise, or a plan of your own')
    .addOption(
      new Option('--quota-of <id>', 'id of a key whose quota it shares, instead of a plan').conflicts([
        'plan',
        'perMinute',
        'perDay',
      ]),
    )
    .option('--per-minute <n>', 'own limit per minute, with --per-day', positiveInteger)
    .option('--per-day <n>', 'own limit per day, with --per-minute', positiveInteger)
    .addOption(new Option('--role <role>', 'role of the key').choices(['client', 'admin']).default('client'))
    .addOption(scopesOption('--scopes <list>'))
    .addOption(allowOption())
    .option('--expires <when>', 'when it expires, such as 30d or 2027-01-01T00:00:00Z', expiry)
    .addHelpText('after', '\nExample:\n  animal-store keys issue --name "Ann\'s shop" --plan pro')
    .hook('preAction', requireOption('--plan or --quota-of', 'plan', 'quotaOf'))
    .hook('preAction', requireBothLimitsOrNone)
    .action(
      withServices(async (services, { expires, allow, as, ...options }: IssueOptions) => {
        const quotaOf = await findGivenKeyId(services, options.quotaOf);
        const input = { ...options, quotaOf, expiresAt: expires, allowedNetworks: allow };
        const issued = await services.get(KeyService).issue(input, as);
        return issuedOutput(issued, ...limitWarnings(issued));
      }),
    ),

  changeCommand('label', 'set the name of a key and the note on it; what is not given stays')
    .argument('<id>', 'id of the key')
    .option('--name <name>', 'name of the key', parsedBy(keyName))
    .option('--note <text>', 'note of administrators on the key', parsedBy(keyNote))
    .option('--no-note', 'remove the note')
    .hook('preAction', requireOption('--name, --note or --no-note', 'name', 'note'))
    .action(
      changeKey((services, id, { name, note, as }: LabelOptions) =>
        services.get(KeyService).label(id, { name, note: note === false ? null : note }, as),
      ),
    ),

  changeCommand('rotate', 'issue a successor on the same quota; both work until the overlap ends')
    .argument('<id>', 'id of the key')
    .addOption(
      new Option('--overlap <duration>', 'how long both keys work, such as 90s, 30m, 24h, 7d, or 0')
        .argParser(overlap)
        .default(overlap(OVERLAP_DEFAULT), OVERLAP_DEFAULT),
    )
    .option(
      '--expires <when>',
      'when the successor expires (default: when the old key was to expire)',
      expiry,
    )
    .action(
      withServices(
        async (services, text: string, options: ChangeOptions & { overlap: number; expires?: Date }) => {
          const id = await findKeyId(services, text);
          const { overlap: overlapSeconds, expires: expiresAt, as } = options;
          const issued = await services.get(KeyService).rotate(id, { overlapSeconds, expiresAt }, as);
          const end = overlapSeconds === 0 ? 'no longer works' : `works until ${issued.overlapEndsAt}`;
          return issuedOutput(issued, `The old key ${end}.`);
        },
      ),
    ),

  changeCommand('revoke', 'revoke a key immediately and permanently')
    .argument('[id]', 'id of the key')
    .option('--key <key>', 'the key itself, if it leaked and you have nothing else of it')
    .option('--yes', 'do not ask for confirmation')
    .hook('preAction', requireIdOrKey)
    .action(
      withServices(async (services, text: string | undefined, options: ChangeOptions & { key?: string }) => {
        const keys = services.get(KeyService);
        const { key: leaked, as } = options;
        const key = await keys.find(await (text ? findKeyId(services, text) : keys.findId(leaked ?? '')));
        if (key.revokedAt === null || leaked !== undefined) {
          const which =
            leaked === undefined
              ? keyText(key)
              : `${keyText(key)}, its successors and what was issued by them`;
          await confirm(`Revoke ${which} immediately and permanently?`, options);
        }
        return keyOutput(await (leaked ? keys.revokeLeaked(leaked, as) : keys.revoke(key.id, as)));
      }),
    ),

  changeCommand('plan', "put a key's quota on a plan; the counts of the current windows are kept")
    .argument('<id>', 'id of the key')
    .argument('<plan>', 'name of the plan')
    .option('--per-minute <n>', 'own limit per minute, with --per-day', positiveInteger)
    .option('--per-day <n>', 'own limit per day, with --per-minute', positiveInteger)
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store keys plan 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 pro\n' +
        '  animal-store keys plan 0f8f6a11 enterprise --per-minute 5000 --per-day 1000000',
    )
    .hook('preAction', requireBothLimitsOrNone)
    .action(
      withServices(async (services, text: string, plan: string, options: ChangeOptions & OwnLimits) => {
        const id = await findKeyId(services, text);
        const { perMinute, perDay } = options;
        const key = await services.get(KeyService).find(id);
        const own = perMinute && perDay ? `, ${limitsText({ perMinute, perDay })}` : '';
        await confirm(
          `Move ${keyText(key)} from plan ${key.plan}, ${limitsText(key)}, to plan ${plan}${own}?`,
          options,
        );
        const changed = await services
          .get(KeyService)
          .changePlan(id, { plan, perMinute, perDay }, options.as);
        return keyOutput(changed, ...limitWarnings(changed));
      }),
    ),

  changeCommand('scopes', 'set what a key may do')
    .argument('<id>', 'id of the key')
    .addOption(scopesOption('--set <list>').makeOptionMandatory())
    .action(
      changeKey((services, id, { set, as }: ChangeOptions & { set: CreateKeyInput['scopes'] }) =>
        services.get(KeyService).restrict(id, { scopes: set }, as),
      ),
    ),

  changeCommand('networks', 'set from where a key may be used')
    .argument('<id>', 'id of the key')
    .addOption(allowOption().makeOptionMandatory())
    .action(
      changeKey((services, id, { allow, as }: ChangeOptions & { allow: string[] }) =>
        services.get(KeyService).restrict(id, { allowedNetworks: allow }, as),
      ),
    ),

  changeCommand('unban', 'end the ban of a key immediately')
    .argument('<id>', 'id of the key')
    .action(
      withServices(async (services, text: string, { as }: ChangeOptions) => {
        const keys = services.get(KeyService);
        const { id, bannedUntil } = await keys.find(await findKeyId(services, text));
        const lines = bannedUntil === null ? ['It was not banned.'] : [];
        return keyOutput(await keys.unban(id, as), ...lines);
      }),
    ),
];

/** Returns the action of a command that changes a key, and prints it afterwards. */
function changeKey<Rest extends unknown[]>(
  change: (services: INestApplicationContext, id: string, ...rest: Rest) => Promise<Key>,
) {
  return withServices(async (services, id: string, ...rest: Rest) =>
    keyOutput(await change(services, await findKeyId(services, id), ...rest)),
  );
}

function requireBothLimitsOrNone(command: Command): void {
  const { perMinute, perDay } = command.opts<OwnLimits>();
  if ((perMinute === undefined) !== (perDay === undefined)) {
    command.error('error: --per-minute and --per-day go together');
  }
}

function requireIdOrKey(command: Command): void {
  if ((command.args[0] === undefined) === (command.opts<{ key?: string }>().key === undefined)) {
    command.error('error: give the id of a key, or --key');
  }
}

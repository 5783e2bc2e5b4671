import { type Command, Option } from 'commander';
import { externalId } from '../keys/quota.schemas.js';
import { CreateKeyInput, keyName, keyNote, type UpdateKeyInput } from '../keys/key.schemas.js';
import { KeyService } from '../keys/key.service.js';
import {
  expiry,
  EXPIRY_HELP,
  EXTERNAL_ID_HELP,
  KEY_ID,
  listOrWord,
  overlap,
  parsedBy,
  PLAN_HELP,
  positiveInteger,
  recordText,
} from './arguments.js';
import { changeCommand, type ChangeOptions } from './command.js';
import { EXACTLY, findId } from './record-id.js';
import { issuedOutput, keyOutput, keyText } from './key-output.js';
import { confirm, readLine } from './output/confirmation.js';
import { OperatorError } from '../process/operator-error.js';
import { missingLimit } from '../schemas/limits.schema.js';

const OVERLAP_DEFAULT = '24h';
const SCOPES = 'what it may do, such as pets:read,orders:read; "all" for all that its role may, or "none"';
const NETWORKS =
  'from where it may be used, such as 203.0.113.0/24,2001:db8::/32; "any" for anywhere, or "none"; ' +
  'behind a proxy, set TRUST_PROXY';

const { scopes, allowedNetworks } = CreateKeyInput.shape;
const scopesOption = () => new Option('--scopes <list>', SCOPES).argParser(listOrWord(scopes, 'all'));
const networksOption = () =>
  new Option('--networks <list>', NETWORKS).argParser(listOrWord(allowedNetworks, 'any'));

type OwnLimits = Pick<CreateKeyInput, 'perMinute' | 'perDay'>;

/** The options that restrict a key, with null for no restriction. */
interface RestrictionOptions {
  scopes?: { value: UpdateKeyInput['scopes'] };
  networks?: { value: UpdateKeyInput['allowedNetworks'] };
}

interface IssueOptions
  extends ChangeOptions, Omit<CreateKeyInput, keyof RestrictionOptions>, RestrictionOptions {
  expires?: Date;
  quota?: string;
}

interface UpdateOptions extends ChangeOptions, RestrictionOptions {
  name?: string;
  /** False for `--no-note`. */
  note?: string | false;
}

export const keyChanges: Command[] = [
  changeCommand('issue', 'issue a key, with a new quota or on an existing one; it is shown only once')
    .requiredOption('--name <name>', 'name of the key', parsedBy(keyName))
    .option('--note <text>', 'note of administrators on the key', parsedBy(keyNote))
    .option('--plan <plan>', PLAN_HELP)
    .addOption(
      new Option('--quota <id>', 'the quota that it shares, instead of a plan')
        .argParser(recordText)
        .conflicts(['plan', 'perMinute', 'perDay', 'externalId']),
    )
    .option('--external-id <text>', EXTERNAL_ID_HELP, parsedBy(externalId))
    .option('--per-minute <n>', 'own limit per minute, with --per-day', positiveInteger)
    .option('--per-day <n>', 'own limit per day, with --per-minute', positiveInteger)
    .addOption(new Option('--role <role>', 'role of the key').choices(['client', 'admin']).default('client'))
    .addOption(scopesOption())
    .addOption(networksOption())
    .option('--expires <when>', `when it expires, ${EXPIRY_HELP}`, expiry)
    .addHelpText('after', '\nExample:\n  animal-store keys issue --name "Ann\'s shop" --plan pro')
    .requireOneOf('--plan', '--quota')
    .rejectIf((limits: OwnLimits) => missingLimit(limits) !== null, '--per-minute and --per-day go together')
    .run(async (services, { expires, quota, scopes: given, networks, as, ...options }: IssueOptions) => {
      const quotaId = await findId(services, 'quota', quota);
      const restrictions = { scopes: given?.value, allowedNetworks: networks?.value };
      const input = { ...options, quotaId, expiresAt: expires, ...restrictions };
      return issuedOutput(await services.get(KeyService).issue(input, as));
    }),

  changeCommand('update', 'change a key: its name, note, scopes and networks; what is not given stays')
    .argument(...KEY_ID)
    .option('--name <name>', 'name of the key', parsedBy(keyName))
    .option('--note <text>', 'note of administrators on the key', parsedBy(keyNote))
    .option('--no-note', 'remove the note')
    .addOption(scopesOption())
    .addOption(networksOption())
    .requireOneOf('--name', '--note', '--no-note', '--scopes', '--networks')
    .run(async (services, text: string, { name, note, scopes: given, networks, as }: UpdateOptions) => {
      const id = await findId(services, 'key', text, EXACTLY);
      const restrictions = { scopes: given?.value, allowedNetworks: networks?.value };
      const input = { name, note: note === false ? null : note, ...restrictions };
      return keyOutput(await services.get(KeyService).update(id, input, as));
    }),

  changeCommand('suspend', 'deny requests with a key until it is resumed; its expiry goes on')
    .argument(...KEY_ID)
    .option('--yes', 'do not ask for confirmation')
    .run(async (services, text: string, options: ChangeOptions) => {
      const keys = services.get(KeyService);
      const key = await keys.find(await findId(services, 'key', text, EXACTLY));
      const wasSuspended = key.suspendedAt !== null;
      if (!wasSuspended) {
        await confirm(`Suspend ${keyText(key)}?`, options);
      }
      const end = wasSuspended ? 'The key was suspended already.' : 'The key is suspended.';
      return keyOutput(await keys.update(key.id, { suspended: true }, options.as), end);
    }),

  changeCommand('resume', 'allow requests with a suspended key again')
    .argument(...KEY_ID)
    .run(async (services, text: string, { as }: ChangeOptions) => {
      const keys = services.get(KeyService);
      const { id, suspendedAt } = await keys.find(await findId(services, 'key', text, EXACTLY));
      const end = suspendedAt === null ? 'The key was not suspended.' : 'The key is no longer suspended.';
      return keyOutput(await keys.update(id, { suspended: false }, as), end);
    }),

  changeCommand('rotate', 'issue a successor on the same quota; both work until the overlap ends')
    .argument(...KEY_ID)
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
    .run(async (services, text: string, options: ChangeOptions & { overlap: number; expires?: Date }) => {
      const id = await findId(services, 'key', text, EXACTLY);
      const { overlap: overlapSeconds, expires: expiresAt, as } = options;
      const issued = await services.get(KeyService).rotate(id, { overlapSeconds, expiresAt }, as);
      const end = overlapSeconds === 0 ? 'no longer works' : `works until ${issued.overlapEndsAt}`;
      return issuedOutput(issued, `The old key ${end}.`);
    }),

  changeCommand('revoke', 'revoke a key immediately and permanently')
    .argument('[id]', KEY_ID[1], KEY_ID[2])
    .option(
      '--leaked-key <key>',
      'the leaked key itself, instead of its id; "-" reads it from standard input, because a shell keeps ' +
        'its commands and others see those that run',
    )
    .option('--yes', 'do not ask for confirmation')
    .rejectIf((_options, [id]) => id === '-', 'to read the leaked key itself, give --leaked-key -')
    .rejectIf(
      ({ leakedKey }: { leakedKey?: string }, [id]) => id === undefined && leakedKey === undefined,
      'give the id of a key, or --leaked-key',
    )
    .rejectIf(
      ({ leakedKey }: { leakedKey?: string }, [id]) => id !== undefined && leakedKey !== undefined,
      'give the id of a key or --leaked-key, not both',
    )
    .run(async (services, text: string | undefined, options: ChangeOptions & { leakedKey?: string }) => {
      const keys = services.get(KeyService);
      const { leakedKey: given, as } = options;
      const leaked = given === '-' ? await readLeakedKey() : given;
      const key = await keys.find(
        await (leaked === undefined ? findId(services, 'key', text ?? '', EXACTLY) : keys.findId(leaked)),
      );
      if (key.revokedAt === null || leaked !== undefined) {
        const which =
          leaked === undefined ? keyText(key) : `${keyText(key)}, its successors and what was issued by them`;
        await confirm(`Revoke ${which} immediately and permanently?`, options);
      }
      const withDerived = leaked !== undefined;
      const all = withDerived ? 'The key, its successors and what was issued by them are' : 'The key is';
      const end = key.revokedAt !== null && !withDerived ? 'The key was revoked already.' : `${all} revoked.`;
      return keyOutput(await keys.revoke(key.id, as, { withDerived }), end);
    }),
];

/** @throws OperatorError if the input has no first line, or an empty one. */
async function readLeakedKey(): Promise<string> {
  const line = await readLine();
  if (!line) {
    throw new OperatorError('Standard input was empty: write the leaked key there, on one line.');
  }
  return line;
}

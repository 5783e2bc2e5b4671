import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type IssuedKey, KeyService } from '../auth/key.service.js';
import { runOnDatabase } from './command.js';

const EXIT_USAGE = 2;

interface IssueOptions {
  name: string;
  plan: string;
  perMinute?: number;
  perDay?: number;
  role: 'client' | 'admin';
  json?: true;
}

const program = new Command('animal-store')
  .description('Administers the animal store, in the running embedded database or in that of DATABASE_URL.')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true });

program
  .command('keys')
  .description('API keys')
  .command('issue')
  .description('issue a key, on a quota of its own; the key is shown this once')
  .requiredOption('--name <name>', 'what the key is for', someText)
  .requiredOption('--plan <plan>', 'free, pro, business or enterprise')
  .option('--per-minute <n>', 'own limit per minute, with --per-day', positiveInteger)
  .option('--per-day <n>', 'own limit per day, with --per-minute', positiveInteger)
  .addOption(
    new Option('--role <role>', 'what the key may do').choices(['client', 'admin']).default('client'),
  )
  .option('--json', 'print one JSON object, for a program')
  .addHelpText('after', '\nExample:\n  npm run -s admin -- keys issue --name "Ann\'s shop" --plan pro')
  .action(async (options: IssueOptions, command: Command) => {
    const { name, plan, role, perMinute, perDay } = options;
    if ((perMinute === undefined) !== (perDay === undefined)) {
      command.error('error: --per-minute and --per-day go together', { exitCode: EXIT_USAGE });
    }
    const limits = perMinute !== undefined && perDay !== undefined ? { perMinute, perDay } : undefined;
    await runOnDatabase(async (prisma, environment) => {
      const issued = await new KeyService(prisma, environment).issue({ name, plan, role, limits });
      process.stdout.write(options.json ? `${JSON.stringify(issued)}\n` : describe(issued));
    });
  });

function someText(text: string): string {
  if (!/^[^\p{Cc}]{1,255}$/u.test(text) || text.trim() === '') {
    throw new InvalidArgumentError('It must be 1 to 255 characters of text, without control characters.');
  }
  return text;
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 2_147_483_647) {
    throw new InvalidArgumentError('It must be a whole number from 1 to 2147483647.');
  }
  return value;
}

function describe({ id, key, name, plan, role, perMinute, perDay }: IssuedKey): string {
  return [
    `key      ${key}`,
    `id       ${id}`,
    `name     ${name}`,
    `role     ${role}`,
    `plan     ${plan}, ${perMinute} requests per minute, ${perDay} per day`,
    'The key is not shown again.',
    '',
  ].join('\n');
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) {
    throw error;
  }
  process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
}

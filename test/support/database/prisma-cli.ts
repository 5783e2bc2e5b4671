import { spawn } from 'node:child_process';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');

/** How a command ended; `output` is stdout and stderr together. */
interface Outcome {
  code: number | null;
  output: string;
}

/** Runs the Prisma CLI without a terminal, as a pipeline would. */
export function prisma(
  databaseUrl: string,
  args: string[],
  { environment = {}, cwd = ROOT }: { environment?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<Outcome> {
  const cli = path.join(ROOT, 'node_modules', 'prisma', 'build', 'index.js');
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: databaseUrl,
      CHECKPOINT_DISABLE: '1',
      NO_COLOR: '1',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

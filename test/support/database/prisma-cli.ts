import { spawn } from 'node:child_process';
import path from 'node:path';
import { KeptOutput } from '../programs/kept-output.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');

/**
 * Runs the Prisma CLI without a terminal, as a pipeline would. Returns its exit code, and stdout and stderr
 * together.
 */
export async function prisma(
  databaseUrl: string,
  args: string[],
  { environment = {}, cwd = ROOT }: { environment?: NodeJS.ProcessEnv; cwd?: string } = {},
) {
  const cli = path.join(ROOT, 'node_modules', 'prisma', 'build', 'index.js');
  const program = new KeptOutput(
    spawn(process.execPath, [cli, ...args], {
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
    }),
  );
  const { code } = await program.ended;
  return { code, output: program.output };
}

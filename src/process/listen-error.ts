import { OperatorError } from './operator-error.js';

export function listenError(
  cause: NodeJS.ErrnoException,
  { host, port, setting }: { host: string; port: number; setting: 'PORT' | 'METRICS_PORT' },
): OperatorError {
  const noAddress = `This machine has no address ${host}: set HOST to one of its addresses, or to :: for all`;
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use: stop that program, or set ${setting}`,
    EACCES: `This user may not listen on port ${port}: set ${setting} to 1024 or higher`,
    EADDRNOTAVAIL: noAddress,
    EAFNOSUPPORT: noAddress,
    ENOTFOUND: noAddress,
  };
  const other = `The service cannot listen on HOST ${host} and ${setting} ${port}: ${cause.message}`;
  return new OperatorError(messages[cause.code ?? ''] ?? other, { cause });
}

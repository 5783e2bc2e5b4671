/** Thrown if the service cannot listen. Its message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  /** @param setting the setting that has the port. */
  constructor(cause: Error, host: string, port: number, setting: 'PORT' | 'METRICS_PORT') {
    super(messageOf(cause, host, port, setting), { cause });
  }
}

function messageOf(cause: NodeJS.ErrnoException, host: string, port: number, setting: string): string {
  const noAddress = `This machine has no address ${host}: set HOST to one of its addresses, or to :: for all`;
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use: stop that program, or set ${setting}`,
    EACCES: `This user may not listen on port ${port}: set ${setting} to 1024 or higher`,
    EADDRNOTAVAIL: noAddress,
    EAFNOSUPPORT: noAddress,
    ENOTFOUND: noAddress,
  };
  return (
    messages[cause.code ?? ''] ??
    `The service cannot listen on HOST ${host} and ${setting} ${port}: ${cause.message}`
  );
}

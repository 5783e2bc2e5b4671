// For health checks of a container: `node dist/cli/probe.js livez` exits with 0 if the service in the
// container responds with 2xx. It imports nothing, because it runs every few seconds.

const address = `http://127.0.0.1:${process.env['PORT'] || 3000}/${process.argv[2] ?? 'livez'}`;

// The exit code is the result, whether or not the text can be written.
process.stdout.on('error', () => {});

try {
  const response = await fetch(address);
  process.stdout.write(`${response.status} ${await response.text()}\n`);
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  process.stdout.write(`${address} does not respond: ${String((error as Error).cause)}\n`);
  process.exitCode = 1;
}

import { Argument } from 'commander';
import { TerminalCommand } from './command.js';
import { HEALTH_PATHS, type HealthPath, probeHealth } from './health-probe.js';

/** `probe`: the health check of a container, which has no other client of HTTP. */
export const probeCommand = new TerminalCommand(
  'probe',
  'check the health of the service on this machine: exit code 0 if it is healthy, else 1',
)
  .addArgument(
    new Argument('<path>', 'livez: the process responds; readyz: it can serve requests').choices(
      HEALTH_PATHS,
    ),
  )
  .addHelpText('after', '\nUses HOST and PORT as the service does.')
  .action((path: HealthPath) => probeHealth(path));

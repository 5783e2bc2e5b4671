import { Command } from 'commander';
import { issueCommand } from './issue.command.js';
import { labelCommand } from './label.command.js';
import { listCommand } from './list.command.js';
import { planCommand } from './plan.command.js';
import { rateLimitCommand } from './rate-limit.command.js';
import { revokeCommand } from './revoke.command.js';
import { rotateCommand } from './rotate.command.js';
import { showCommand } from './show.command.js';
import { unbanCommand } from './unban.command.js';

/** `keys …` */
export function keysCommand(): Command {
  return new Command('keys')
    .description('API keys')
    .addHelpText('after', '\nAn <id> is the id of a key or its ending, as tables on a terminal show it.')
    .addCommand(issueCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(labelCommand())
    .addCommand(rotateCommand())
    .addCommand(revokeCommand())
    .addCommand(planCommand())
    .addCommand(unbanCommand())
    .addCommand(rateLimitCommand());
}

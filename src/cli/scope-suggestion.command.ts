import { SUGGESTION_DAYS } from '../usage/admin-usage.schemas.js';
import { UsageService } from '../usage/usage.service.js';
import { daysOption } from './arguments.js';
import { command } from './command.js';
import { findId } from './record-id.js';
import { linesText, tableText } from './output/text.js';

/** `keys scope-suggestion` */
export const scopeSuggestionCommand = command(
  'scope-suggestion',
  'show which scopes the requests of a key needed, and which not',
)
  .argument('<id>', 'id of the key')
  .addOption(daysOption(SUGGESTION_DAYS))
  .run(async (services, text: string, { days }: { days: number }) => {
    const usage = services.get(UsageService);
    const id = await findId(services, 'key', text);
    const suggestion = await usage.suggestScopes(id, { since: usage.firstDay(days) });
    const rows = suggestion.scopes.map(({ lastRequestAt: last, clientErrors: errors, ...used }) => ({
      ...used,
      errors,
      last,
    }));
    return { value: suggestion, text: () => tableText(rows) + linesText(`Since ${suggestion.since}.`) };
  });

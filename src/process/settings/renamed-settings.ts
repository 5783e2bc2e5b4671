type Variables = Record<string, string | undefined>;

/** Today's names by the earlier ones, which an existing `.env` may still have. */
export const RENAMED_SETTINGS: Record<string, string> = {
  COUNTER_STORE: 'COUNTER_STORE_URL',
  COUNTER_STORE_FILE: 'COUNTER_STORE_URL_FILE',
  MAX_CONCURRENT_REQUESTS: 'MAX_CONCURRENT_REQUESTS_PER_OPERATION',
  USAGE_MINUTES_KEPT: 'USAGE_MINUTE_RETENTION',
  WEBHOOK_PRIVATE_ADDRESSES: 'WEBHOOK_ALLOW_PRIVATE_ADDRESSES',
};

/**
 * Returns the variables with the values of earlier names under today's. If a setting has a value under
 * today's name, or is in a file that it names, the earlier one is ignored.
 *
 * @param warnings gets a line for each earlier name.
 */
export function resolveRenamedSettings(variables: Variables, warnings: string[]): Variables {
  const resolved = { ...variables };
  for (const [earlier, name] of Object.entries(RENAMED_SETTINGS)) {
    const value = variables[earlier];
    if (value === undefined) {
      continue;
    }
    const setting = name.replace(/_FILE$/, '');
    const given = [setting, `${setting}_FILE`].find((today) => variables[today] !== undefined);
    if (given === undefined) {
      resolved[name] = value;
      warnings.push(`The setting ${earlier} is now ${name}: rename it.`);
    } else {
      warnings.push(
        `The setting ${earlier} is now ${name}, and is ignored, because ${given} is set: remove it.`,
      );
    }
  }
  return resolved;
}

// Prints, as JSON, the public names that no document contains: those of settings, commands, metrics, error
// codes, columns, events, audited actions and exports of the client. A release keeps them, and later versions
// keep the names.

import { readFileSync } from 'node:fs';
import { DiscoveryService } from '@nestjs/core';
import { z } from 'zod';
import { ACTIONS } from '../build/audit/audit.js';
import { COLUMNS } from '../build/database/generated/columns.js';
import { statusOfCode } from '../build/http/routes/catalogue.js';
import { collectMetrics } from '../build/observability/metrics.server.js';
import { settings } from '../build/process/settings/environment.js';
import { RENAMED_SETTINGS } from '../build/process/settings/renamed-settings.js';
import { SECRETS } from '../build/process/settings/secret-files.js';
import { EVENTS } from '../build/webhooks/events.js';
import { program } from '../build/cli/animal-store.js';
import { createUnstartedService } from './unstarted-service.js';

/** Those of Node and the process, which the metrics library names. */
const NOT_OURS = /^(nodejs|process)_/;
const EXPLAINED = /^(?:# )?(\w+)=/gm;
/** A section of `client/test/exports.txt`. */
const EXPORTS = /^# (\w+)\n([^#]*)/gm;

const names = {
  settings: readSettings(),
  commands: Object.fromEntries(readCommands(program, [])),
  metrics: await readMetrics(),
  errorCodes: statusOfCode,
  columns: Object.fromEntries(
    COLUMNS.map(({ relation, name, type, mayBeNull }) => [
      `${relation}.${name}`,
      mayBeNull ? type : `${type} NOT NULL`,
    ]),
  ),
  events: Object.keys(EVENTS),
  auditActions: ACTIONS,
  client: readExports(),
};
process.stdout.write(`${JSON.stringify(names, null, 2)}\n`);

/** Returns every setting, by name; the values of enumerations; and which must be set. */
function readSettings() {
  const { properties = {}, required = [] } = z.toJSONSchema(settings, {
    io: 'input',
    unrepresentable: 'any',
  });
  // With those of the Compose file.
  const example = readRepositoryFile('.env.example');
  const all = [
    ...SECRETS.map((name) => `${name}_FILE`),
    ...Object.keys(RENAMED_SETTINGS),
    ...Array.from(example.matchAll(EXPLAINED), ([, name = '']) => name),
    ...Object.keys(properties),
  ];
  const choices = Object.entries(properties).flatMap(([name, schema]) =>
    typeof schema === 'object' && schema.enum !== undefined ? [[name, schema.enum]] : [],
  );
  return {
    forms: Object.fromEntries(all.map((name) => [name, 'value'])),
    choices: Object.fromEntries(choices),
    required,
  };
}

/** Returns what the package of the client exports: values, types and methods. */
function readExports() {
  const sections = readRepositoryFile('client/test/exports.txt').matchAll(EXPORTS);
  return Object.fromEntries(
    Array.from(sections, ([, name = '', lines = '']) => [name.toLowerCase(), lines.trim().split('\n')]),
  );
}

function readRepositoryFile(name) {
  return readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
}

/** Returns a command and its subcommands, by the words of each. */
function readCommands(command, parents) {
  const words = [...parents, command.name()];
  const { options, registeredArguments } = command;
  const given = [
    ...registeredArguments.map((argument, index) => [`argument ${index + 1}`, argument]),
    ...options.flatMap((option) =>
      [option.short, option.long].filter((name) => name !== undefined).map((name) => [name, option]),
    ),
  ];
  const own = {
    forms: Object.fromEntries(given.map(([name, each]) => [name, valueForm(each)])),
    choices: Object.fromEntries(
      given.flatMap(([name, { argChoices }]) => (argChoices === undefined ? [] : [[name, argChoices]])),
    ),
    required: given.filter(([, each]) => isRequired(each)).map(([name]) => name),
  };
  return [[words.join(' '), own], ...command.commands.flatMap((each) => readCommands(each, words))];
}

function valueForm(given) {
  if ('mandatory' in given && !given.required && !given.optional) {
    return 'no value';
  }
  return given.variadic ? 'values' : 'value';
}

function isRequired(given) {
  return 'mandatory' in given ? given.mandatory : given.required;
}

/** Returns the type and the labels of every metric, by name. */
async function readMetrics() {
  const { app } = await createUnstartedService();
  const metrics = collectMetrics(app.get(DiscoveryService, { strict: false })).getMetricsAsArray();
  return Object.fromEntries(
    metrics
      .filter(({ name }) => !NOT_OURS.test(name))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, type, labelNames }) => [name, { type, labels: labelNames }]),
  );
}

// Prints, as JSON, the public names that no document contains: those of settings, commands, metrics, error
// codes, columns, events, audited actions and exports of the client. A release keeps them, and later versions
// keep the names.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DiscoveryService } from '@nestjs/core';
import ts from 'typescript';
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
/** What the package of the client exports. */
const CLIENT = fileURLToPath(new URL('../client/src/index.ts', import.meta.url));

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
  // It need not be installed: no name comes from a package.
  const modules = ts.createProgram([CLIENT], { module: ts.ModuleKind.NodeNext, noLib: true, types: [] });
  const checker = modules.getTypeChecker();
  const module = checker.getSymbolAtLocation(modules.getSourceFile(CLIENT));
  const exported = checker
    .getExportsOfModule(module)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  // All that `export *` exports are types.
  const isValue = ({ declarations: [declaration] }) =>
    ts.isExportSpecifier(declaration) && !ts.isTypeOnlyExportDeclaration(declaration);
  const store = exported.find(({ name }) => name === 'AnimalStore');
  return {
    values: exported.filter(isValue).map(({ name }) => name),
    types: exported.filter((symbol) => !isValue(symbol)).map(({ name }) => name),
    methods: readMethods(checker, checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(store)), 'store'),
  };
}

/** Returns the methods of a class of the client, and of the resources that are its properties. */
function readMethods(checker, type, path) {
  return type
    .getProperties()
    .filter(
      ({ valueDeclaration }) => !(ts.getCombinedModifierFlags(valueDeclaration) & ts.ModifierFlags.Private),
    )
    .flatMap((member) => {
      const memberPath = `${path}.${member.name}`;
      return member.flags & ts.SymbolFlags.Method
        ? [memberPath]
        : readMethods(checker, checker.getTypeOfSymbol(member), memberPath);
    })
    .toSorted();
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

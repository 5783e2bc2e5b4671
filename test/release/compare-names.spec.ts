import { compareMigrations } from '../../dev/release/compare-migrations.js';
import { compareNames } from '../../dev/release/compare-names.js';

const released = {
  settings: {
    forms: { PORT: 'value', LOG_LEVEL: 'value' },
    choices: { LOG_LEVEL: ['info', 'warn'] },
    required: ['PORT'],
  },
  commands: { keys: { forms: { '--plan': 'value', '--yes': 'no value' }, required: ['argument 1'] } },
  metrics: { pets_total: { type: 'counter', labels: ['plan'] } },
  errorCodes: { not_found: 404 },
  client: { values: ['AnimalStore'], types: ['Pet'], methods: ['pets.list()'] },
};

describe('compareNames', () => {
  it('allows names, values, options and labels that are new, and an option that is optional now', () => {
    const current = {
      settings: {
        forms: { PORT: 'value', HOST: 'value', APP_ENV: 'value', LOG_LEVEL: 'value' },
        choices: { APP_ENV: ['staging'], LOG_LEVEL: ['debug', 'warn', 'info'] },
        required: [],
      },
      commands: {
        keys: { forms: { '--plan': 'value', '--yes': 'no value', '--json': 'no value' }, required: [] },
      },
      metrics: {
        pets_total: { type: 'counter', labels: ['plan', 'status'] },
        orders_total: { type: 'counter' },
      },
      errorCodes: { not_found: 404, gone: 410 },
      client: {
        values: ['AnimalStore', 'GoneError'],
        types: ['Pet', 'Visit'],
        methods: ['pets.list()', 'a()'],
      },
    };
    expect(compareNames(released, current)).toEqual([]);
  });

  it('allows that a setting with a few values accepts any', () => {
    const settings = { ...released.settings, choices: {} };
    expect(compareNames(released, { ...released, settings })).toEqual([]);
  });

  it.each<[string, object, string]>([
    [
      'a setting is gone',
      { settings: { ...released.settings, forms: { LOG_LEVEL: 'value' } } },
      'settings → forms → PORT: It is gone.',
    ],
    [
      'a value is gone',
      { settings: { ...released.settings, choices: { LOG_LEVEL: ['info'] } } },
      'settings → choices → LOG_LEVEL → warn: It is gone.',
    ],
    [
      'a setting accepts a few values now',
      { settings: { ...released.settings, choices: { ...released.settings.choices, PORT: ['3000'] } } },
      'settings → choices → PORT: It accepted any value, and accepts a few now.',
    ],
    [
      'a setting is required now',
      { settings: { ...released.settings, required: ['PORT', 'LOG_LEVEL'] } },
      'settings → required → LOG_LEVEL: It is required now',
    ],
    [
      'a new setting is required',
      { settings: { ...released.settings, required: ['PORT', 'HOST'] } },
      'settings → required → HOST: It is required now',
    ],
    [
      'an export of the client is gone',
      { client: { ...released.client, methods: [] } },
      'client → methods → pets.list(): It is gone.',
    ],
    ['a command is gone', { commands: {} }, 'commands → keys: It is gone.'],
    [
      'an option is gone',
      { commands: { keys: { forms: { '--yes': 'no value' }, required: [] } } },
      'commands → keys → forms → --plan: It is gone.',
    ],
    [
      'an option takes no value now',
      { commands: { keys: { forms: { '--plan': 'no value', '--yes': 'no value' }, required: [] } } },
      '--plan: It was "value", and is "no value".',
    ],
    [
      'an option is required now',
      { commands: { keys: { ...released.commands.keys, required: ['argument 1', '--plan'] } } },
      'commands → keys → required → --plan: It is required now',
    ],
    [
      'a metric has another type',
      { metrics: { pets_total: { type: 'gauge', labels: ['plan'] } } },
      'pets_total → type: It was "counter", and is "gauge".',
    ],
    [
      'a label is gone',
      { metrics: { pets_total: { type: 'counter', labels: [] } } },
      'pets_total → labels → plan: It is gone.',
    ],
    [
      'an error code has another status',
      { errorCodes: { not_found: 410 } },
      'errorCodes → not_found: It was 404, and is 410.',
    ],
  ])('refuses that %s', (_change, current, fault) => {
    const faults = compareNames(released, { ...released, ...current });
    expect(faults.map(({ place, problem }) => `${place}: ${problem}`)).toEqual([
      expect.stringContaining(fault),
    ]);
  });
});

describe('compareMigrations', () => {
  it('allows migrations after the released ones', () => {
    expect(compareMigrations({ '1_init': 'a' }, { '1_init': 'a', '2_next': 'b' })).toEqual([]);
  });

  it('refuses a released migration that is edited or missing, and a new one before a released one', () => {
    const faults = compareMigrations(
      { '1_a': 'a', '3_b': 'b', '5_c': 'c' },
      { '1_a': 'x', '3_b': 'b', '4_d': 'd' },
    );
    expect(faults.map(({ place, problem }) => `${place}: ${problem}`)).toEqual([
      expect.stringMatching(/^prisma\/migrations\/1_a: It was released, and is another one now\./),
      expect.stringMatching(/^prisma\/migrations\/5_c: It was released, and is missing\./),
      expect.stringMatching(/^prisma\/migrations\/4_d: It is new, but comes before 5_c/),
    ]);
  });
});

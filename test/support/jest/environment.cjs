const path = require('node:path');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** Jest wraps the first for each test file; a package that it loads anew for each file wraps the others. */
const WRAPPED = ['exit', 'cwd', 'chdir'];

const { TEST_FOLDER } = process.env;
if (TEST_FOLDER !== undefined) {
  // A process of the service starts with the compiled modules of the last one. Jest's own, already started,
  // do without: storing theirs when they end would take longer than Jest waits.
  process.env.NODE_COMPILE_CACHE = path.join(TEST_FOLDER, 'compiled');
}

/** Returns a package if this process has loaded it. A file of rules alone would wait for it in vain. */
const loaded = (name) => require.cache[require.resolve(name)]?.exports;

/** Runs a test file with the globals of its process, and undoes what it may change of them. */
module.exports = class {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.console = console;
    this.symbols = Object.getOwnPropertySymbols(globalThis);
    this.variables = { ...process.env };
    this.functions = Object.fromEntries(WRAPPED.map((name) => [name, process[name]]));
    this.listeners = new Map(process.eventNames().map((event) => [event, process.rawListeners(event)]));
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    globalThis.console = this.console;
    // Jest's state of the file, with all that its tests refer to.
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (!this.symbols.includes(symbol)) {
        Reflect.deleteProperty(globalThis, symbol);
      }
    }
    Object.assign(process, this.functions);
    for (const name of Object.keys(process.env).filter((each) => !(each in this.variables))) {
      delete process.env[name];
    }
    Object.assign(process.env, this.variables);
    for (const event of process.eventNames()) {
      const known = this.listeners.get(event) ?? [];
      for (const listener of process.rawListeners(event).filter((each) => !known.includes(each))) {
        process.off(event, listener);
      }
    }
    // Else the OpenAPI document of the next file would have the schemas of this one too.
    loaded('zod')?.globalRegistry.clear();
    // An application of the file, or the file itself, may have silenced NestJS.
    const nest = loaded('@nestjs/common');
    nest?.Logger.overrideLogger(new nest.ConsoleLogger());
  }

  getVmContext() {
    return null;
  }
};

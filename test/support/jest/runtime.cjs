const { createRequire } = require('node:module');
const vm = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/** The package of which each file has an instance of its own, whose memory it refers to. */
const OF_EACH_FILE = '@prisma/schema-engine-wasm/';

/** The modules that this process has compiled. To run one again is to load it anew. */
const compiled = new Map();

/**
 * Loads the modules of this project anew for each test file, as Jest does, but packages once a process, by
 * Node itself: their 1,300 modules would take longer than the tests of most files. Both have the globals of
 * the process, so that they agree on what an `Error` is.
 */
module.exports = class extends Runtime {
  constructor(...options) {
    super(...options);
    const { injectedModuleParameters } = this.executor;
    this.executor.compile = (code, filename) => {
      const known = compiled.get(filename);
      if (known?.code === code) {
        return known.run;
      }
      const run = vm.compileFunction(code, injectedModuleParameters, { filename });
      compiled.set(filename, { code, run });
      return run;
    };
  }

  requireModule(from, name, options, isActual) {
    const isOfProcess =
      name !== undefined &&
      !/^[./]/.test(name) &&
      !name.startsWith(OF_EACH_FILE) &&
      options?.isInternalModule !== true;
    return isOfProcess ? createRequire(from)(name) : super.requireModule(from, name, options, isActual);
  }

  /** Jest would replace `process.getBuiltinModule` of each file's own process object. */
  installGetBuiltinModule() {}
};

const { createRequire } = require('node:module');
const vm = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/**
 * Loads the modules of this project anew for each test file, as Jest does, but packages once a process, by
 * Node itself: their 1,300 modules would take longer than the tests of most files. Both have the globals of
 * the process, so that they agree on what an `Error` is.
 */
module.exports = class extends Runtime {
  constructor(...options) {
    super(...options);
    const { injectedModuleParameters } = this.executor;
    this.executor.compile = (code, filename) =>
      vm.compileFunction(code, injectedModuleParameters, { filename });
  }

  requireModule(from, name, options, isActual) {
    const isOfPackage = name !== undefined && !/^[./]/.test(name) && !options?.isInternalModule;
    return isOfPackage ? createRequire(from)(name) : super.requireModule(from, name, options, isActual);
  }

  /** Jest would replace `process.getBuiltinModule` of each file's own process object. */
  installGetBuiltinModule() {}
};

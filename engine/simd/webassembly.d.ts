/** The part of the WebAssembly API that is used here. TypeScript declares it only in its library for browsers. */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: true })
    readonly buffer: SharedArrayBuffer
  }

  class Module {
    constructor(bytes: Uint8Array)
  }

  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, Memory | number>>)
    readonly exports: object
  }

  class CompileError extends Error {}
}

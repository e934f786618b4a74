import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Runs the TypeScript compiler of a package alongside the server: bundling a plugin strips its types without checking them. */
export class TypeChecker {
  #running: ChildProcess | undefined

  /** @param report called with the errors, with file and line */
  constructor(private readonly report: (text: string) => void) {}

  /** Starts a check by the `tsconfig.json` in `folder`, without waiting for it; does nothing without that file or a compiler. */
  start(folder: string): void {
    this.stop()
    const compiler = compilerOf(folder)
    if (!compiler) return
    const child = spawn(process.execPath, [compiler, '--noEmit', '--pretty', 'false', '-p', folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    this.#running = child
    let output = ''
    child.stdout.on('data', chunk => (output += chunk))
    // Paths in the output are relative to the working directory. The result of a check that was stopped concerns older files.
    child.on('close', code => {
      if (this.#running !== child) return
      this.#running = undefined
      if (code) this.report(`TypeScript found errors; the server uses the code anyway:\n${output.trimEnd()}`)
    })
  }

  stop(): void {
    this.#running?.kill()
    this.#running = undefined
  }
}

function compilerOf(folder: string): string | undefined {
  if (!existsSync(join(folder, 'tsconfig.json'))) return undefined
  try {
    return createRequire(join(folder, 'tsconfig.json')).resolve('typescript/bin/tsc')
  } catch {
    return undefined
  }
}

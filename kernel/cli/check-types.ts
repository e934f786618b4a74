import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Runs the TypeScript compiler of a package beside the server: bundling a plugin removes its types without looking at them. */
export class TypeChecker {
  #running: ChildProcess | undefined

  /** @param print gets each error, with file and line */
  constructor(private readonly print: (line: string) => void) {}

  /** Checks what the `tsconfig.json` in `folder` names, without waiting for it; nothing when there is none, or no compiler. */
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
    // Paths in it are relative to the working directory. One that was stopped is about older files.
    child.on('close', code => {
      if (this.#running !== child) return
      this.#running = undefined
      if (code) this.print(`the types do not fit; it is served all the same:\n${output.trimEnd()}`)
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

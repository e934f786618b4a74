import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { outputUrl } from '../../../engine/base/output-root.ts'

/** Root of the build that this test belongs to. */
const build = fileURLToPath(new URL('../', outputUrl('kernel/api.js')))

/** Installs into an author's package what `npm install` would: this build of Tesser, and what its own tests use. */
export function installTesser(folder: string): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'tesser'), { recursive: true })
  mkdirSync(join(modules, '@types'))
  cpSync('package.json', join(modules, 'tesser/package.json'))
  symlinkSync(build, join(modules, 'tesser/dist'))
  for (const name of ['typescript', '@types/node', 'undici-types']) {
    symlinkSync(resolve('node_modules', name), join(modules, name))
  }
  mkdirSync(join(modules, '.bin'))
  symlinkSync(join(build, 'kernel/cli/main.js'), join(modules, '.bin/tesser'))
  for (const name of ['tsc', 'esbuild']) symlinkSync(resolve('node_modules/.bin', name), join(modules, '.bin', name))
}

export interface Ended {
  code: number | null
  output: string
}

/** Runs a file with Node until it ends. */
export async function runNode(folder: string, ...args: string[]): Promise<Ended> {
  // Without the variables that the runner of this test sets for its own processes.
  const child = spawn(process.execPath, args, { cwd: folder, env: { PATH: process.env.PATH } })
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  child.stderr.on('data', chunk => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

export const runTesser = (folder: string, ...args: string[]): Promise<Ended> =>
  runNode(folder, join(build, 'kernel/cli/main.js'), ...args)

/** Declarations of the compiler, of Node and of Tesser, which no test changes: read once for all packages. */
const declarations = new Map<string, ts.SourceFile | undefined>()

/** Runs the compiler with the settings of a package, like `tsc` in its folder. */
export function runCompiler(folder: string): Ended {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} }
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(join(folder, 'tsconfig.json'), {}, host)!
  const compiler = ts.createCompilerHost(options)
  const { getSourceFile } = compiler
  compiler.getCurrentDirectory = () => folder
  compiler.getSourceFile = (file, ...rest) => {
    if (file.startsWith(folder)) return getSourceFile(file, ...rest)
    if (!declarations.has(file)) declarations.set(file, getSourceFile(file, ...rest))
    return declarations.get(file)
  }
  const program = ts.createProgram(fileNames, options, compiler)
  const problems = [...errors, ...ts.getPreEmitDiagnostics(program)]
  return { code: problems.length > 0 ? 2 : 0, output: ts.formatDiagnostics(problems, compiler) }
}

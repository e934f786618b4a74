import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputUrl } from '../../engine/output-root.ts'

/** Root of the build that this test belongs to. */
const build = fileURLToPath(new URL('../', outputUrl('kernel/api.js')))

/** Puts what `npm install` would into a package of an author: this build of Tesser, and what its own tests use. */
export function installTesser(folder: string): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'tesser'), { recursive: true })
  mkdirSync(join(modules, '@types'))
  cpSync('package.json', join(modules, 'tesser/package.json'))
  symlinkSync(build, join(modules, 'tesser/dist'))
  for (const name of ['typescript', '@types/node', 'undici-types']) {
    symlinkSync(resolve('node_modules', name), join(modules, name))
  }
}

export interface Ended {
  code: number | null
  output: string
}

/** Runs a file with Node until it ends. */
export async function runNode(folder: string, ...args: string[]): Promise<Ended> {
  // Without what the runner of this test has set for its own processes.
  const child = spawn(process.execPath, args, { cwd: folder, env: { PATH: process.env.PATH } })
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  child.stderr.on('data', chunk => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

export const runTesser = (folder: string, ...args: string[]): Promise<Ended> =>
  runNode(folder, join(build, 'kernel/cli/main.js'), ...args)

/** The compiler, as `tsc` in the folder of a package. */
export const runCompiler = (folder: string): Promise<Ended> => runNode(folder, 'node_modules/typescript/bin/tsc')

/** Clients from a server, compiled and loaded. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** Every compiler option that forbids something: a client compiles with all of them. */
const STRICTEST = {
  target: 'ES2022',
  lib: ['ES2022', 'DOM'],
  types: [],
  module: 'ESNext',
  moduleResolution: 'Bundler',
  allowImportingTsExtensions: true,
  noEmit: true,
  // The compiler's own declarations would take most of its time.
  skipDefaultLibCheck: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
}

/** Writes a package of files for the compiler. @param options override those that forbid everything */
export function writeProject(folder: string, files: Readonly<Record<string, string>>, options: object = {}): void {
  mkdirSync(folder, { recursive: true })
  const compilerOptions = { ...STRICTEST, ...options }
  const all = { ...files, 'tsconfig.json': JSON.stringify({ compilerOptions, files: Object.keys(files) }) }
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text)
}

/** Loads a TypeScript module with its imports, as a bundler would. */
// biome-ignore lint/suspicious/noExplicitAny: its types are those of a model
export async function loadModule(folder: string, name: string): Promise<any> {
  const outfile = join(folder, name.replace(/\.ts$/, '.mjs'))
  await build({
    entryPoints: [join(folder, name)],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  })
  return import(pathToFileURL(outfile).href)
}

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { BuildFailure, Location, Plugin as BuildPlugin } from 'esbuild'
import { resolve as resolveModule } from 'import-meta-resolve'
import { openTemporaryFolder, type TemporaryFolder } from '../engine/base/temporary-folder.ts'
import { outputUrl } from '../engine/index.ts'

/** Modules of Tesser that plugins import, with their files in this build. */
const OWN_MODULES: Readonly<Record<string, string>> = {
  tesser: 'kernel/api.js',
  'tesser/classes': 'engine/author/data-api/classes.js',
}

/**
 * Makes plugin modules importable. TypeScript is bundled, and so is JavaScript whose import of `tesser` would not resolve to this build,
 * because its classes must be those of the running server. Other modules are imported directly.
 */
export class ModuleBundler {
  /** Paths of all files that have been bundled. */
  readonly sources = new Set<string>()
  /** Warnings of esbuild; the caller that prints them empties the set. */
  readonly warnings = new Set<string>()
  private folder: TemporaryFolder | undefined

  /** @param always bundle every module, so that a changed one is imported again */
  constructor(private readonly always = false) {}

  /** @throws {Error} with the messages of esbuild about the source */
  async importable(url: URL): Promise<URL> {
    const path = fileURLToPath(url)
    return this.always || /\.[mc]?ts$/.test(path) || importsOtherTesser(path, url.href) ? this.bundle(path) : url
  }

  /** Removes the bundles; to be called after they have been imported. */
  close(): void {
    this.folder?.close()
    this.folder = undefined
  }

  private async bundle(path: string): Promise<URL> {
    const { build } = await import('esbuild')
    // Makes traces name the files of the plugin, not the bundle. Must be set before the bundle is imported.
    process.setSourceMapsEnabled(true)
    this.sources.add(path)
    this.folder ??= openTemporaryFolder('tesser-plugins-')
    const folder = this.folder.path
    const result = await build({
      entryPoints: [path],
      write: false,
      // Never written: paths in the source map are relative to its folder.
      outfile: join(folder, 'bundle.mjs'),
      metafile: true,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      // Class names appear in addresses; esbuild renames decorated classes that refer to themselves.
      keepNames: true,
      sourcemap: 'external',
      define: { 'import.meta.url': IMPORT_URL },
      logLevel: 'silent',
      plugins: [resolveImports, keepImportUrls],
    }).catch((error: Partial<BuildFailure>) => {
      const problems = error.errors?.map(({ text, location }) => {
        if (location) this.sources.add(resolve(location.file))
        return messageAt(text, location)
      })
      throw new Error(problems?.join('; ') ?? String(error))
    })
    for (const source of Object.keys(result.metafile.inputs)) this.sources.add(resolve(source))
    for (const { text, location } of result.warnings) this.warnings.add(messageAt(text, location))
    const [map, code] = ['.map', '.mjs'].map(end => result.outputFiles.find(each => each.path.endsWith(end))!.text)
    const contents = `${code}//# sourceMappingURL=data:application/json;base64,${withAbsoluteSources(map!, folder)}\n`
    // Named by its content, so that an unchanged module is not loaded again.
    const file = join(folder, `${createHash('sha256').update(path).update(contents).digest('hex').slice(0, 32)}.mjs`)
    writeFileSync(file, contents)
    return pathToFileURL(file)
  }
}

/**
 * A source map in base64 whose sources have absolute URLs. Relative URLs are wrong where the module loader resolves a link on the path to
 * the bundle, and debuggers treat them as paths, which differ from URLs where a folder has a blank or an umlaut.
 */
function withAbsoluteSources(text: string, folder: string): string {
  const map = JSON.parse(text) as { sources: string[] }
  const sources = map.sources.map(source => new URL(source, pathToFileURL(`${folder}/`)).href)
  return Buffer.from(JSON.stringify({ ...map, sources })).toString('base64')
}

/** A message of esbuild, with its position in the form that editors and terminals link. */
const messageAt = (text: string, location: Location | null): string =>
  location ? `${text} (${location.file}:${location.line}:${location.column + 1})` : text

/** Bundles the files of the plugin; packages are imported from where they are installed, `tesser` from this build. */
const resolveImports: BuildPlugin = {
  name: 'tesser-resolve',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point' || /^(node|tesser-import-url):/.test(path)) return undefined
      const ownModule = OWN_MODULES[path]
      if (ownModule) return { path: outputUrl(ownModule).href, external: true }
      try {
        return { path: resolveModule(path, pathToFileURL(importer).href), external: true }
      } catch (error) {
        return { errors: [{ text: (error as Error).message }] }
      }
    })
  },
}

/**
 * Keeps `import.meta.url` that of the source: it becomes a name that an appended line imports. Appending preserves the lines and columns
 * above, for traces and breakpoints.
 */
const keepImportUrls: BuildPlugin = {
  name: 'tesser-import-url',
  setup(build) {
    build.onResolve({ filter: /^tesser-import-url:/ }, ({ path }) => ({ path, namespace: 'tesser-import-url' }))
    build.onLoad({ filter: /./, namespace: 'tesser-import-url' }, ({ path }) => ({
      contents: `export default ${JSON.stringify(path.slice('tesser-import-url:'.length))}`,
    }))
    build.onLoad({ filter: /\.[mc]?[jt]s$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      if (!source.includes('import.meta.url')) return undefined
      const url = JSON.stringify(`tesser-import-url:${pathToFileURL(path).href}`)
      return {
        contents: `${source}\nimport ${IMPORT_URL} from ${url}`,
        loader: /ts$/.test(path) ? 'ts' : 'js',
        resolveDir: dirname(path),
      }
    })
  },
}
const IMPORT_URL = '__tesserImportUrl'

function importsOtherTesser(path: string, url: string): boolean {
  if (!/['"]tesser(\/[a-z]+)?['"]/.test(readFileSync(path, 'utf8'))) return false
  try {
    return resolveModule('tesser', url) !== outputUrl(OWN_MODULES.tesser!).href
  } catch {
    return true
  }
}

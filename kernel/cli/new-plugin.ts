import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readJsonFile } from '../../config/read-json-file.ts'
import { loadModel, writeTypes } from '../../engine/index.ts'
import { outputUrl } from '../../engine/base/output-root.ts'
import packageJson from '../../package.json' with { type: 'json' }

/** A name that npm accepts, with or without a scope. */
const PACKAGE_NAME = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]{0,100}$/

/**
 * `tesser new plugin`: creates a working package, with a test, in its own folder.
 * @param name npm name; the folder has this name without the scope
 * @returns the folder, relative to `cwd`
 * @throws {Error} the name is invalid, the folder is not empty, or this build has no types
 */
export function newPlugin(name: string, cwd = process.cwd()): string {
  if (!PACKAGE_NAME.test(name)) {
    throw new Error(
      `"${name}" cannot be the name of a package; use lower-case letters, digits and hyphens; its folder is created in the working directory`,
    )
  }
  const folder = basename(name)
  const target = join(cwd, folder)
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new Error(`${target} is not empty; give another name`)
  }
  const packageFolder = fileURLToPath(new URL('./', outputUrl('package.json')))
  if (!existsSync(join(packageFolder, packageJson.exports['.'].types))) {
    throw new Error(
      `this build of Tesser has no types, which the compiler of plugins needs; this writes them: cd ${packageFolder} && npm ci && npm run build`,
    )
  }
  cpSync(new URL('./', outputUrl('config/plugin-template/package.json')), target, { recursive: true })
  // npm leaves `.gitignore` out of packages, so our package cannot contain it.
  renameSync(join(target, 'gitignore'), join(target, '.gitignore'))
  for (const file of readdirSync(target, { withFileTypes: true }).filter(each => each.isFile())) {
    const path = join(target, file.name)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('my-plugin', name))
  }
  const manifest = join(target, 'package.json')
  const content = readJsonFile(manifest, 'package') as Manifest
  content.peerDependencies.tesser = `^${packageJson.version}`
  // This installation of Tesser, wherever it came from: a version would be looked up in a registry.
  content.devDependencies.tesser = `file:${relative(target, packageFolder)}`
  writeFileSync(manifest, `${JSON.stringify(content, undefined, 2)}\n`)
  const model = join(target, 'model.json')
  writeFileSync(join(target, 'tesser-model.d.ts'), writeTypes(loadModel(readJsonFile(model, 'model')), 'model.json'))
  return folder
}

interface Manifest {
  peerDependencies: Record<string, string>
  devDependencies: Record<string, string>
}

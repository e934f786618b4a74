import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readJsonFile } from '../../config/read-json-file.ts'
import { InputError } from '../../engine/base/input-error.ts'
import { excerpt } from '../../engine/base/text/excerpt.ts'
import { outputUrl } from '../../engine/base/output-root.ts'
import { loadModel, writeTypes } from '../../engine/index.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { installedFrom } from './installed-from.ts'

/** A name that npm accepts, with or without a scope. In a command, the folder `~` is another one, and `-x` an option. */
const PACKAGE_NAME = /^(@[a-z0-9~-][a-z0-9._~-]{0,100}\/)?[a-z0-9][a-z0-9._~-]{0,100}$/
/** Names that npm refuses: a package cannot depend on itself. */
const TAKEN = ['tesser', 'node_modules']
/** Names of the packages in the templates. */
const PLACEHOLDERS = /\bmy-(?:plugin|app)\b/g

/** Folders of `config` whose files a new package gets; files of later folders replace those of earlier ones. */
type Template = 'plugin-template' | 'app-template'

/**
 * Creates a working package, with tests, in its own folder.
 * @param name npm name; the folder has this name without the scope
 * @returns the folder, relative to `cwd`
 * @throws {InputError} the name is invalid, or the folder is not empty; {@link Error} this build has no types
 */
export function newPackage(name: string, templates: readonly Template[], cwd: string): string {
  if (!PACKAGE_NAME.test(name) || TAKEN.includes(name)) {
    throw new InputError(
      `"${excerpt(name)}" cannot be the name of a package; use lower-case letters, digits and hyphens${TAKEN.includes(name) ? ', and another name' : ''}; its folder is created in the working directory`,
    )
  }
  const folder = basename(name)
  const target = join(cwd, folder)
  requireEmpty(target)
  const installation = fileURLToPath(new URL('./', outputUrl('package.json')))
  if (!existsSync(join(installation, packageJson.exports['.'].types))) {
    throw new Error(
      `this build of Tesser has no types, which the compiler of plugins needs; this writes them: cd ${installation} && npm ci && npm run build`,
    )
  }
  for (const template of templates)
    copyFolder(fileURLToPath(new URL('./', outputUrl(`config/${template}/package.json`))), target)
  // npm leaves `.gitignore` out of packages, so our package cannot contain it.
  renameSync(join(target, 'gitignore'), join(target, '.gitignore'))
  insertName(name, target)
  insertVersions(join(target, 'package.json'), installedFrom(installation, target))
  const model = readJsonFile(join(target, 'model.json'), 'model')
  writeFileSync(join(target, 'tesser-model.d.ts'), writeTypes(loadModel(model), 'model.json'), { mode: FILE_MODE })
  return folder
}

/** Modes of new files and folders, whose code runs: only the user changes them, whatever the umask. */
const FILE_MODE = 0o644
const FOLDER_MODE = 0o755

/** Copies the contents of files, not their modes: the files of an installation may be read-only. */
function copyFolder(source: string, target: string): void {
  mkdirSync(target, { recursive: true, mode: FOLDER_MODE })
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)]
    if (entry.isDirectory()) copyFolder(from, to)
    else writeFileSync(to, readFileSync(from), { mode: FILE_MODE })
  }
}

/** @throws {InputError} */
function requireEmpty(target: string): void {
  const stats = statSync(target, { throwIfNoEntry: false })
  if (stats === undefined && lstatSync(target, { throwIfNoEntry: false }))
    throw new InputError(`${target} is a link to something that does not exist; give another name`)
  if (stats === undefined) return
  if (!stats.isDirectory()) throw new InputError(`${target} is a file; give another name`)
  if (readdirSync(target).length > 0) throw new InputError(`${target} is not empty; give another name`)
}

function insertName(name: string, target: string): void {
  for (const file of readdirSync(target, { withFileTypes: true }).filter(each => each.isFile())) {
    const path = join(target, file.name)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(PLACEHOLDERS, name))
  }
}

/** Dependencies of the `package.json` in a template. */
interface Manifest {
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  devDependencies: Record<string, string>
}

function insertVersions(path: string, tesser: string): void {
  const content = readJsonFile(path, 'package') as Manifest
  if (content.peerDependencies) content.peerDependencies.tesser = `^${packageJson.version}`
  const { dependencies = content.devDependencies } = content
  dependencies.tesser = tesser
  writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`)
}

/** READMEs of rooms name their source files, and no others. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { sources } from '../support/checks/sources.ts'

/**
 * The rule: a README names each source file of its folder, and of folders below that have no README of their own.
 * A name is a path from the README, or from a folder that the same table row, list item, paragraph or the heading above names.
 * A folder with a README of its own, or with at most six files, may be named as a whole: `pool/`.
 * READMEs of plugins are manuals, so the README above a folder of a plugin names only the folder.
 */
const FILES_OF_A_SMALL_FOLDER = 6

const FILE = /`((?:\.\.\/)*\w[\w.-]*(?:\/[\w.-]+)*\.(?:tsx?|mjs))`/g
const FOLDER = /`((?:[\w.-]+\/)+)`|\]\(((?:[\w.-]+\/)+)README\.md\)/g
const ABOVE = /`(\.\.\/[^`\s]*)`/g
const BLOCK_END = /\n\s*\n|\n(?=[|#-])/

const TOPS = ['engine', 'kernel', 'plugins', 'test/support']
const isOfPlugin = (path: string): boolean => path.startsWith('plugins/')
const files = sources('.ts', '.tsx', '.mjs', '.md').filter(({ path }) => TOPS.some(top => path.startsWith(`${top}/`)))
const readmes = files.filter(({ path }) => path.endsWith('/README.md'))
/** Modules of JavaScript are tools of the build, except those that run tests. */
const CODE = /\.tsx?$|^test\/.*\.mjs$/
const code = files.map(({ path }) => path).filter(path => CODE.test(path) && !/\.(?:d|test)\.tsx?$/.test(path))

interface Names {
  readonly files: ReadonlySet<string>
  readonly folders: ReadonlySet<string>
  readonly missing: readonly string[]
}

/** Reads the paths that the README of a folder names. */
function namesOf(folder: string, text: string): Names {
  const found = { files: new Set<string>(), folders: new Set<string>(), missing: [] as string[] }
  let heading: string[] = []
  for (const block of text.split(BLOCK_END)) {
    const names = [...block.matchAll(FILE)].map(match => match[1]!)
    const folders = [...block.matchAll(FOLDER)].map(([, plain, linked]) => join(folder, plain ?? linked!, '.'))
    if (block.startsWith('#')) heading = folders
    for (const path of folders) found.folders.add(path)
    const places = [folder, ...folders, ...names.map(name => join(folder, dirname(name))), ...heading, '.']
    for (const name of names) {
      const path = places.map(place => join(place, name)).find(existsSync)
      if (path) found.files.add(path)
      else found.missing.push(name)
    }
    for (const [, name] of block.matchAll(ABOVE)) if (!existsSync(join(folder, name!))) found.missing.push(name!)
  }
  return found
}

const names = new Map(readmes.map(({ path, text }) => [dirname(path), namesOf(dirname(path), text)]))

/** Folders above a path, the nearest first. */
function above(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [folder, ...above(folder)]
}

const isSmall = (folder: string): boolean =>
  code.filter(path => path.startsWith(`${folder}/`)).length <= FILES_OF_A_SMALL_FOLDER

/** True if the nearest README above a path names it, or a small folder around it. */
function isNamed(path: string): boolean {
  const home = above(path).find(folder => names.has(folder))
  if (!home) return false
  const { files, folders } = names.get(home)!
  return files.has(path) || folders.has(path) || above(path).some(folder => folders.has(folder) && isSmall(folder))
}

t.test('READMEs of engine, kernel and test support name every source file', async t => {
  t.same(
    code.filter(path => !isOfPlugin(path) && !isNamed(path)),
    [],
  )
})

t.test('READMEs name every folder with a README, and every folder of plugins', async t => {
  const folders = new Set([...names.keys(), ...code.filter(isOfPlugin).map(path => dirname(path))])
  t.same(
    [...folders].filter(folder => !TOPS.includes(folder) && !isNamed(folder)),
    [],
  )
})

t.test('files that READMEs of engine, kernel and test support name are there', async t => {
  const rooms = [...names].filter(([folder]) => !isOfPlugin(`${folder}/`))
  t.same(
    rooms.flatMap(([folder, { missing }]) => missing.map(name => `${folder}: ${name}`)),
    [],
  )
})

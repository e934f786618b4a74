import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { FORMAT_VERSION } from '../../engine/storage/format-version.ts'
import { makeSqliteDatabase } from './sqlite-database.ts'
import { makeTesserStore } from './tesser-store.ts'
import { WORLD_VERSION, type World } from './world.ts'

const CACHE = '.tesser/bench'

/**
 * The folder of a world with both databases, created if missing. It must not be changed: see {@link copyWorld}.
 * @param say receives a line about progress, without a line break
 */
export async function prepareWorld(world: World, say: (line: string) => void): Promise<string> {
  const folder = resolve(CACHE, `${world.seed}-${world.employees}-${FORMAT_VERSION}.${WORLD_VERSION}`)
  if (existsSync(folder)) return folder
  // A temporary name until the folder is complete.
  const unfinishedFolder = `${folder}.unfinished`
  rmSync(unfinishedFolder, { recursive: true, force: true })
  mkdirSync(unfinishedFolder, { recursive: true })
  const progress = (what: string) => (rows: number) =>
    say(`making ${what}: ${Math.round((rows / world.employees) * 100)} %`)
  makeSqliteDatabase(unfinishedFolder, world, progress('the SQLite database'))
  await makeTesserStore(unfinishedFolder, world, progress("Tesser's store"))
  renameSync(unfinishedFolder, folder)
  return folder
}

let folders = 0

/** An empty folder, removed when this process ends. */
export function newFolder(): string {
  const folder = resolve(CACHE, `copy-${process.pid}-${++folders}`)
  // Servers that end at the same time may still write.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  mkdirSync(folder, { recursive: true })
  return folder
}

/**
 * Makes a copy that may be changed and is removed when this process ends. Entity sets count as changes: ten thousand of them leave a list
 * of free pages that makes a commit ten times slower.
 */
export function copyWorld(folder: string): string {
  const copy = newFolder()
  cpSync(folder, copy, { recursive: true, filter: source => !source.endsWith(join('store', 'lock.mdb')) })
  return copy
}

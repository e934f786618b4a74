import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { diskProblem } from './disk-problem.ts'

/** System calls that make, remove or rename a folder entry: they need permissions on the folder, not on the entry. */
const OF_FOLDER: readonly (string | undefined)[] = ['mkdir', 'rename', 'rmdir', 'unlink', 'link', 'symlink']

/**
 * Message of a system error. For missing permissions, it names the permission and the file or folder, which the system's message does not.
 * For an error of LMDB, which has a number, it adds what the number means for the disk.
 */
export function describeSystemError(error: unknown): string {
  const { code, path, syscall, message } = error as NodeJS.ErrnoException
  const isRight = (code === 'EACCES' || code === 'EPERM') && path !== undefined
  const problem = typeof (code as unknown) === 'number' ? diskProblem(error) : undefined
  return (isRight ? missingRight(resolve(path), syscall) : undefined) ?? (problem ? `${message}: ${problem}` : message)
}

/** Describes a permission that this process lacks on a path or a folder above it; undefined when it has all of them. */
function missingRight(path: string, syscall: string | undefined): string | undefined {
  let folder = dirname(path)
  for (const each of foldersAbove(path)) {
    if (!existsSync(each)) break
    if (!may(each, constants.X_OK)) return `${USER} has no right to enter the folder ${each}`
    folder = each
  }
  if (existsSync(path) && !OF_FOLDER.includes(syscall)) {
    if (!may(path, constants.R_OK)) return `${USER} has no right to read ${path}`
    return may(path, constants.W_OK) ? undefined : `${USER} has no right to write to ${path}`
  }
  return may(folder, constants.W_OK) ? undefined : `${USER} has no right to write in the folder ${folder}`
}

/** Folders from the root to the folder of a path. */
function foldersAbove(path: string): string[] {
  const folder = dirname(path)
  return folder === path ? [] : [...foldersAbove(folder), folder]
}

/** The user, named by number, because a user of a container may have no name. */
const USER = process.getuid ? `the user ${process.getuid()}` : 'the user of this process'

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

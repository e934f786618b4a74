import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Folders of programs that a user's PATH may lack. */
const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']

/** Path of an installed program; undefined if it is not installed. */
export function programOf(name: string): string | undefined {
  return FOLDERS.filter(folder => folder !== '')
    .map(folder => join(folder, name))
    .find(file => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** Option of tap that skips a test, with the reason, if a program is not installed. */
export const needs = (name: string): { skip: string | false } => ({
  skip: programOf(name) ? false : `${name} is not installed`,
})

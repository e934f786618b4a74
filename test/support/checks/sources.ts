import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Source {
  /** Path from the top of the repository. */
  readonly path: string
  readonly text: string
}

const ROOMS = ['kernel', 'plugins', 'engine', 'config', 'bench', 'test']

/** Files of this repository whose names end with one of `endings`, without build output. */
export function sources(...endings: string[]): Source[] {
  const inside = ROOMS.flatMap(room => readdirSync(room, { recursive: true }).map(path => join(room, String(path))))
  return [...readdirSync('.'), ...inside]
    .filter(path => endings.some(ending => path.endsWith(ending)) && !path.includes('node_modules'))
    .map(path => ({ path, text: readFileSync(path, 'utf8') }))
}

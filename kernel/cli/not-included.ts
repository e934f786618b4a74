import { existsSync } from 'node:fs'
import type { Config } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import { quantity } from '../../engine/base/counted.ts'
import type { DraftModel } from './draft-model.ts'

/** Sentence about dataclasses of which a copy of the store has no entities; empty if there are none, or if the model cannot be read. */
export function notIncluded({ demo, model }: Config): string {
  if (demo || !existsSync(model)) return ''
  const [first, ...others] = remoteClasses(model)
  if (first === undefined) return ''
  const all =
    others.length === 0
      ? `${first} are`
      : `${first} and ${quantity(others.length, 'more dataclass', 'more dataclasses')} are`
  return `; not included: the entities of ${all} in a database, which has its own backups`
}

function remoteClasses(path: string): string[] {
  try {
    const { dataClasses } = readJsonFile(path, 'model') as DraftModel
    return Object.keys(dataClasses).filter(name => dataClasses[name]!.storage !== undefined)
  } catch {
    return []
  }
}

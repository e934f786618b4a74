import { existsSync, writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import { InputError } from '../../engine/base/input-error.ts'

const MODEL = `{
  "name": "data",
  "dataClasses": {}
}
`
const CONFIG = `{ "model": "model.json" }\n`

/**
 * Writes a model without dataclasses and a configuration that names it into the working directory, for `tesser start --empty`.
 * @param config the configuration without them
 * @returns a line for the user
 * @throws {InputError} there is a model already
 */
export function writeEmptyModel({ demo, model, folder }: Config): string {
  if (!demo) throw existing(relative(folder, model))
  for (const [name, content] of [
    ['model.json', MODEL],
    ['tesser.config.json', CONFIG],
  ] as const) {
    const path = resolve(folder, name)
    if (existsSync(path)) throw existing(name)
    writeFileSync(path, content, { flag: 'wx' })
  }
  return 'model.json, without dataclasses, and tesser.config.json are written. To add one, stop the server, and run npx tesser load FILE --new-class; npx tesser starts it again'
}

const existing = (model: string): InputError =>
  new InputError(`--empty begins a new model, but there is ${model}; start without --empty`)

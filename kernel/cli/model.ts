import { existsSync, writeFileSync } from 'node:fs'
import { readXml } from './structure/read-xml.ts'
import { structureModel } from './structure/structure-model.ts'

/**
 * `tesser model`: writes the model of a structure of 4D.
 * @param out path of the file, which must not exist; undefined for the standard output
 * @param onNote called with a sentence for each thing that differs or is left out
 * @throws {Error} the file is not a structure of 4D, or `out` exists
 */
export function model(file: string, out: string | undefined, onNote: (note: string) => void): void {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`)
  const text = `${JSON.stringify(structureModel(readXml(file), onNote), null, 2)}\n`
  if (out === undefined) process.stdout.write(text)
  else writeModel(out, text)
}

/** @throws {Error} the file exists: a model that has been edited is not written over */
function writeModel(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Error(`${path} exists already; name another file, or remove it`)
  }
}

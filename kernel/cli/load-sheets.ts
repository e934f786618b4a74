import { format, parse } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import { InputError } from '../../engine/base/input-error.ts'
import { sheetNames } from '../../engine/command-line.ts'
import { errorPathOf } from './error-rows.ts'
import { load, type LoadArguments } from './load.ts'
import { classNameOf, type Dialog, type NewClassOptions, terminal } from './new-class.ts'
import { rowFormatOf } from './row-source.ts'
import { isRemote, nameOf, openSource } from './source-file.ts'

/**
 * `tesser load --sheet '*' --new-class`: loads each sheet of an Excel file into a new dataclass with the name of the sheet. A sheet that
 * cannot be loaded, or is not wanted, does not concern the others.
 * @returns true if every row of every sheet has been saved
 * @throws {InputError} the file or an option does not suit several sheets
 */
export async function loadSheets(
  config: Config,
  settings: LoadArguments,
  output: NodeJS.WriteStream,
  signal?: AbortSignal,
  dialog: Dialog = terminal,
): Promise<boolean> {
  const create = checkOptions(settings)
  const { path } = await openSource(settings.file)
  let isComplete = true
  for (const sheet of await sheetNames(path)) {
    if (signal?.aborted) return false
    try {
      const newClass = classNameOf(sheet)
      const errors = errorFileOf(settings, newClass)
      const ofSheet = { ...settings, sheet, errors, create: { ...create, newClass } }
      isComplete = (await load(config, ofSheet, output, signal, dialog)) && isComplete
    } catch (error) {
      if (!(error instanceof InputError)) throw error
      dialog.print(`sheet "${sheet}": ${error.message}`)
      isComplete = false
    }
  }
  return isComplete
}

function checkOptions(settings: LoadArguments): NewClassOptions {
  const { create, file } = settings
  if (create?.newClass !== true)
    throw new InputError("--sheet '*' creates a dataclass for each sheet: give --new-class without a name")
  if (create.columns || create.types || create.relations || create.key !== undefined)
    throw new InputError("--column, --type, --relation and --key are for one sheet: name it in place of --sheet '*'")
  if (isRemote(file) || rowFormatOf(settings) !== 'xlsx')
    throw new InputError(`--sheet '*' reads an Excel file (.xlsx) on this machine, and ${file} is none`)
  return create
}

/** `firms.xlsx.errors.Firms.csv` for the sheet Firms. */
function errorFileOf({ file, errors }: LoadArguments, name: string): string {
  const { dir, name: base, ext } = parse(errors ?? errorPathOf(nameOf(file), 'xlsx'))
  return format({ dir, name: `${base}.${name}`, ext })
}

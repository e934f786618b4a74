import { closeSync, openSync, readSync } from 'node:fs'
import { InputError } from '../../base/input-error.ts'
import type { Archive } from './archive.ts'

const SAVE_AS = 'save it as an Excel workbook (.xlsx)'
const START_OF_ZIP = 'PK'
/** Source: MS-CFB, 2.2. */
const START_OF_OLD = '\xd0\xcf\x11\xe0'

/** Parts by which an archive is recognised as a file of another program. */
const OTHERS: readonly (readonly [part: string, what: string])[] = [
  ['xl/workbook.bin', 'a binary workbook (.xlsb)'],
  ['content.xml', 'an OpenDocument file (.ods)'],
  ['Index/Document.iwa', 'a file of Numbers'],
  ['word/document.xml', 'a text document (.docx)'],
]

/** Refuses archives of other programs. @throws {Error} with the remedy */
export function refuseOthers(archive: Archive): void {
  const other = OTHERS.find(([part]) => archive.has(part))
  if (other) throw new Error(`it is ${other[1]}; ${SAVE_AS}`)
}

/** Error for a file that cannot be opened as an Excel file. */
export function formatError(path: string, cause: unknown): InputError {
  return new InputError(`${path} is not an Excel file (.xlsx): ${reasonFor(path, cause as Error)}`, { cause })
}

/** Error for an Excel file that cannot be read to its end. */
export function damageError(path: string, cause: unknown): InputError {
  const { message } = cause as Error
  return new InputError(
    `${path} is damaged: ${message}; copy or download it again, or open it in a spreadsheet program and save it`,
    { cause },
  )
}

function reasonFor(path: string, { message }: Error): string {
  const start = startOf(path)
  if (start === '') return 'it is empty'
  if (start === START_OF_OLD)
    return `it has the format of Excel before 2007 (.xls), or a password; ${SAVE_AS} without one`
  if (!start.startsWith(START_OF_ZIP)) return `it does not begin as one; if it is a text such as CSV, give --format csv`
  if (/end of central directory/i.test(message)) return 'its end is missing; copy or download it again'
  return message
}

function startOf(path: string): string {
  const bytes = Buffer.alloc(4)
  const file = openSync(path, 'r')
  try {
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(file)
  }
}

import { InputError } from '../../base/input-error.ts'
import type { Archive } from './archive.ts'
import { firstRows } from './filled-rows.ts'
import type { Sheet, Workbook } from './workbook.ts'

/** Rows of a sheet that can be loaded: a header and a row. */
const MIN_ROWS = 2

/**
 * The sheet with a name or a number; by default the only visible sheet with rows.
 * @throws {InputError} there is no such sheet, or several have rows
 */
export async function chooseSheet(
  path: string,
  archive: Archive,
  workbook: Workbook,
  chosen: string | undefined,
): Promise<Sheet> {
  const { sheets } = workbook
  if (sheets.length === 0) throw new InputError(`${path} has no sheet`)
  if (chosen !== undefined) return sheetOf(path, sheets, chosen)
  const visible = visibleSheets(workbook)
  if (visible.length < 2) return visible[0] ?? sheets[0]!
  const filled = await filledSheets(archive, workbook)
  if (filled.length < 2) return filled[0] ?? visible[0]!
  throw new InputError(
    `${path} has several sheets with rows; choose one with --sheet, by its name or number: ${listed(sheets, filled)}`,
  )
}

/** The visible sheets with rows. */
export async function filledSheets(archive: Archive, workbook: Workbook): Promise<Sheet[]> {
  const filled: Sheet[] = []
  for (const sheet of visibleSheets(workbook)) {
    const rows = await firstRows(archive, sheet.part, workbook, ({ length }) => length >= MIN_ROWS)
    if (rows.length >= MIN_ROWS) filled.push(sheet)
  }
  return filled
}

const visibleSheets = ({ sheets }: Workbook): Sheet[] => sheets.filter(({ isHidden }) => !isHidden)

/** Sheet names are unique without regard to case; a number is the position of a sheet unless it is a name. */
function sheetOf(path: string, sheets: readonly Sheet[], chosen: string): Sheet {
  const sheet =
    sheets.find(({ name }) => name.toLowerCase() === chosen.toLowerCase()) ??
    (/^\d+$/.test(chosen) ? sheets[Number(chosen) - 1] : undefined)
  if (sheet) return sheet
  throw new InputError(`${path} has no sheet "${chosen}"; it has ${listed(sheets, sheets)}`)
}

const listed = (sheets: readonly Sheet[], some: readonly Sheet[]): string =>
  some.map(sheet => `${sheets.indexOf(sheet) + 1} "${sheet.name}"`).join(', ')

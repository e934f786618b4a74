import { quantity } from '../../base/counted.ts'
import type { TableRow } from '../table-file.ts'
import { CellProblem, cellValue, isNotCalculated, type SheetCell } from './cell-value.ts'
import { isEmpty } from './filled-rows.ts'
import type { Header } from './find-header.ts'
import { addressInFormula, type Hyperlinks } from './hyperlinks.ts'
import { columnName, type SheetRow } from './sheet-rows.ts'
import type { Sheet, Workbook } from './workbook.ts'

/** A sheet that is to be read. */
export interface OpenSheet {
  readonly workbook: Workbook
  readonly sheet: Sheet
  readonly header: Header
  /** Undefined if texts are read in place of the addresses of hyperlinks. */
  readonly addresses: Hyperlinks | undefined
  /** Number of hyperlinks whose addresses are not read. */
  readonly hyperlinks: number
}

/** Reads the rows of a sheet below its header, and counts what a user should know about. */
export class SheetReader {
  private formulas = 0
  private notCalculated = 0
  private links = 0
  private merged = 0
  /** First column with a formula without a result. */
  private column: string | undefined
  private readonly isLeftOut: readonly boolean[]

  /** @param leftOut names of columns whose values are not read */
  constructor(
    private readonly open: OpenSheet,
    leftOut: ReadonlySet<string> = new Set(),
  ) {
    this.isLeftOut = open.header.names.map(name => leftOut.has(name))
  }

  /** Begins with the first row. */
  begin(): void {
    this.formulas = this.notCalculated = this.links = this.merged = 0
  }

  onMerged(area: string): void {
    if (Number(/\d+/.exec(area)?.[0]) > this.open.header.index + 1) this.merged++
  }

  /** @returns undefined for an empty row, and for a row that is not below the header */
  read({ index, cells }: SheetRow): TableRow | undefined {
    const { names, index: headerIndex } = this.open.header
    if (index <= headerIndex) return undefined
    const line = index + 1
    const values = Array.from<unknown>({ length: names.length }).fill(null)
    let isFilled = false
    let problem: string | undefined
    for (const cell of cells) {
      if (this.isLeftOut[cell.column]) continue
      const value = this.valueOf(cell, line)
      if (isEmpty(value)) continue
      isFilled = true
      const name = `cell ${columnName(cell.column)}${line}`
      if (value instanceof CellProblem) problem ??= `${name} ${value.reason}`
      else if (cell.column < names.length) values[cell.column] = value
      else problem ??= `${name} is in a column without a header`
      if (value instanceof CellProblem && cell.column < names.length) values[cell.column] = cell.text
    }
    if (!isFilled) return undefined
    return { line, cells: values, ...(problem !== undefined && { problem }) }
  }

  /** Value of a cell, or its address. */
  private valueOf(cell: SheetCell, line: number): unknown {
    const { addresses, workbook } = this.open
    const address = addresses?.get(`${columnName(cell.column)}${line}`)
    if (address !== undefined) return address
    const value = cellValue(cell, workbook)
    return cell.formula === undefined ? value : this.resultOf(cell, value)
  }

  /** Result of a formula, or the address in it. */
  private resultOf(cell: SheetCell, value: unknown): unknown {
    const address = addressInFormula(cell)
    if (address !== undefined && this.open.addresses) return address
    if (address !== undefined) this.links++
    this.formulas++
    if (isNotCalculated(value)) {
      this.notCalculated++
      this.column ??= this.open.header.names[cell.column]
    }
    return value
  }

  /** Notes for the user about the rows read so far, in sentences. */
  notes(): string[] {
    const { header, hyperlinks, workbook } = this.open
    const links = hyperlinks + this.links
    const calculated = this.formulas - this.notCalculated
    return [
      header.question,
      links > 0 && `${quantity(links, 'hyperlink')}: --links reads the addresses in place of the texts`,
      this.notCalculated > 0 &&
        `${quantity(this.notCalculated, 'formula', 'formulas')} without a result, whose rows are rejected: open the file in a spreadsheet program and save it, or leave the column out with --column ${JSON.stringify(`${this.column ?? ''}=`)}`,
      workbook.isToBeCalculated &&
        calculated > 0 &&
        `${quantity(calculated, 'formula', 'formulas')} whose results may be out of date or zero, because the program that wrote the file has not computed them: open it in a spreadsheet program and save it`,
      this.merged > 0 &&
        `${quantity(this.merged, 'merged area')}: the value belongs to the first cell, the others are empty`,
    ].filter(note => typeof note === 'string')
  }
}

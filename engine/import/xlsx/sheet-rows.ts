import type { SheetCell } from './cell-value.ts'
import { readXml } from './read-xml.ts'

/** A row of a sheet, with its number from 0. */
export interface SheetRow {
  readonly index: number
  readonly cells: readonly SheetCell[]
}

/** Maximum number of columns of a sheet. Source: Excel specifications and limits. */
const MAX_COLUMNS = 16_384
const MAX_ROWS = 1_048_576

/** The shared texts of a file, in groups as they become available. @throws {Error} the XML is damaged */
export function sharedTexts(xml: AsyncIterable<string>): AsyncGenerator<string[]> {
  const texts = new TextCollector()
  return readXml(xml, {
    open(name) {
      if (name === 'si') texts.begin()
      else texts.open(name)
    },
    text: text => texts.add(text),
    close: name => (name === 'si' ? texts.end() : texts.close(name)),
  })
}

const NO_CELL: SheetCell = { column: -1, type: 'n', style: 0, text: '', hasValue: false }

/**
 * The rows of a sheet that have cells, in groups as they become available.
 * @param onMerged called with the area of merged cells, `A2:A5`; areas stand after the rows
 * @throws {Error} the XML is damaged
 */
export function sheetRows(xml: AsyncIterable<string>, onMerged?: (area: string) => void): AsyncGenerator<SheetRow[]> {
  const inline = new TextCollector()
  let index = -1
  let cells: SheetCell[] = []
  let cell: { -readonly [P in keyof SheetCell]: SheetCell[P] } = NO_CELL
  /** Columns of the cells of a row that are not in order. */
  let unorderedColumns: Set<number> | undefined
  /** True inside a row: elements of these names also occur elsewhere, such as after the rows. */
  let isInRow = false
  let isInCell = false
  let isValue = false
  let isFormula = false
  return readXml(xml, {
    open(name, attributes) {
      if (isInCell ? name === 'c' || name === 'row' : isInRow && name === 'row')
        throw new Error(`row ${index + 1} has a ${name === 'c' ? 'cell within a cell' : 'row within it'}`)
      if (!isInRow && name === 'mergeCell') onMerged?.(attributes.ref ?? '')
      if (!isInRow && name !== 'row') return
      if (isInRow && !isInCell && name !== 'c') return
      switch (name) {
        case 'row': {
          const { r } = attributes
          index = rowAfter(index, r)
          cells = []
          isInRow = true
          unorderedColumns = undefined
          cell = { ...cell, column: -1 }
          break
        }
        case 'c': {
          const { r, t: type = 'n', s = '0' } = attributes
          const column = r === undefined ? columnAfter(cell.column) : columnOf(r, index)
          isInCell = true
          if (column <= cell.column) unorderedColumns ??= new Set(cells.map(each => each.column))
          if (unorderedColumns?.has(column)) throw new Error(`cell ${columnName(column)}${index + 1} occurs twice`)
          unorderedColumns?.add(column)
          cell = { column, type, style: Number(s), text: '', hasValue: false }
          break
        }
        case 'f':
          cell.formula ??= ''
          isFormula = true
          break
        case 'v':
          if (cell.text !== '') throw new Error(`cell ${columnName(cell.column)}${index + 1} has two values`)
          cell.hasValue = true
          isValue = true
          break
        case 'is':
          inline.begin()
          break
        default:
          inline.open(name)
      }
    },
    text(text) {
      if (isValue) cell.text += text
      else if (isFormula) cell.formula += text
      else inline.add(text)
    },
    close(name) {
      if (!isInCell && !(isInRow && name === 'row')) return undefined
      switch (name) {
        case 'v':
          isValue = false
          break
        case 'f':
          isFormula = false
          break
        case 'is':
          cell.hasValue = true
          cell.text = inline.end()
          break
        case 'c':
          if (cell.type === 'str') cell.text = unescapeText(cell.text)
          cells.push(cell)
          isInCell = false
          break
        case 'row':
          isInRow = false
          return { index, cells }
        default:
          inline.close(name)
      }
      return undefined
    },
  })
}

/** Collects the text of runs, without their readings in phonetic script. Source: ECMA-376, part 1, 18.4. */
class TextCollector {
  private collected = ''
  private isText = false
  private isReading = false

  begin(): void {
    this.collected = ''
  }

  open(name: string): void {
    if (name === 't') this.isText = !this.isReading
    else if (name === 'rPh') this.isReading = true
  }

  add(text: string): void {
    if (this.isText) this.collected += text
  }

  close(name: string): undefined {
    if (name === 't') this.isText = false
    else if (name === 'rPh') this.isReading = false
  }

  end(): string {
    return unescapeText(this.collected)
  }
}

/** Decodes characters that XML cannot contain, which are written as `_x000D_`. Source: ECMA-376, part 1, 22.9.2.19. */
function unescapeText(text: string): string {
  const read = text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  // An unpaired surrogate is not a character.
  return read.isWellFormed() ? read : text
}

/** Number of a row, from 0. @throws {Error} if the row does not come after the previous one, or exceeds the limit of a sheet */
function rowAfter(index: number, name: string | undefined): number {
  const next = name === undefined ? index + 1 : Number(name) - 1
  if (Number.isSafeInteger(next) && next > index && next < MAX_ROWS) return next
  throw new Error(`row "${name}" is behind row ${index + 1}`)
}

function columnAfter(column: number): number {
  if (column + 1 < MAX_COLUMNS) return column + 1
  throw new Error(`a row has more than ${MAX_COLUMNS} cells`)
}

/**
 * Number of the column in the name of a cell, such as `AB12`, from 0.
 * @throws {Error} if it exceeds the limit of a sheet, or the cell belongs to another row
 */
function columnOf(cell: string, row: number): number {
  let column = 0
  let i = 0
  for (; i < cell.length; i++) {
    const letter = cell.charCodeAt(i) | 0x20
    if (letter < 0x61 || letter > 0x7a) break
    column = column * 26 + letter - 0x60
    if (column > MAX_COLUMNS) break
  }
  if (column < 1 || column > MAX_COLUMNS) throw new Error(`a cell is named "${cell.slice(0, 20)}"`)
  if (i < cell.length && cell.slice(i) !== String(row + 1))
    throw new Error(`cell "${cell.slice(0, 20)}" is in row ${row + 1}`)
  return column - 1
}

/** Name of a column: A … Z, AA … */
export function columnName(column: number): string {
  const quotient = Math.floor(column / 26)
  return (quotient > 0 ? columnName(quotient - 1) : '') + String.fromCharCode(65 + (column % 26))
}

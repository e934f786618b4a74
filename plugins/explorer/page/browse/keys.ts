/** Actions of keys in the grid. */

/** A cell of the grid; the header has row -1. */
export interface Cell {
  readonly row: number
  readonly column: number
}

type Action =
  /** `isRange`: chooses the rows from the anchor to the cell. */
  | { readonly kind: 'focus'; readonly cell: Cell; readonly isRange: boolean }
  | { readonly kind: 'open' | 'detail' | 'choose' | 'chooseAll' | 'chooseNone' | 'copy' }
  | { readonly kind: 'order'; readonly isAdded: boolean }
  | { readonly kind: 'move' | 'resize'; readonly by: number }

interface Key {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly shiftKey: boolean
  readonly altKey: boolean
}

interface Size {
  readonly rows: number
  readonly columns: number
  readonly pageRows: number
}

/** Pixels by which a key resizes a column. */
const STEP = 16

/** @returns undefined if the grid does not use the key */
export function actionOf(event: Key, { row, column }: Cell, { rows, columns, pageRows }: Size): Action | undefined {
  const { key, shiftKey, altKey } = event
  const isHeader = row < 0
  if (event.ctrlKey || event.metaKey) {
    const cells: Record<string, Cell> = { Home: { row: 0, column: 0 }, End: { row: rows - 1, column: columns - 1 } }
    if (cells[key]) return { kind: 'focus', cell: cells[key], isRange: shiftKey }
    return key === 'a' ? { kind: 'chooseAll' } : key === 'c' ? { kind: 'copy' } : undefined
  }
  if (isHeader && (key === 'ArrowLeft' || key === 'ArrowRight') && (altKey || shiftKey)) {
    const by = key === 'ArrowLeft' ? -1 : 1
    return altKey ? { kind: 'move', by } : { kind: 'resize', by: by * STEP }
  }
  if (altKey) return undefined
  if (key === 'F2' && !isHeader) return { kind: 'detail' }
  if (key === 'Escape') return { kind: 'chooseNone' }
  if (key === 'Enter' || key === ' ') {
    if (isHeader) return { kind: 'order', isAdded: shiftKey }
    return { kind: key === ' ' ? 'choose' : 'open' }
  }
  const targets: Record<string, Cell> = {
    ArrowDown: { row: row + 1, column },
    ArrowUp: { row: row - 1, column },
    ArrowRight: { row, column: column + 1 },
    ArrowLeft: { row, column: column - 1 },
    PageDown: { row: row + pageRows, column },
    PageUp: { row: Math.max(0, row - pageRows), column },
    Home: { row, column: 0 },
    End: { row, column: columns - 1 },
  }
  const cell = targets[key]
  return cell && { kind: 'focus', cell, isRange: shiftKey && !isHeader && cell.row >= 0 && cell.row !== row }
}

import { number } from '../base/texts.ts'
import { Cell } from './cell.tsx'
import { isNumeric } from './columns.ts'
import type { Entity } from './rows.ts'
import { text } from './texts.ts'
import type { VisibleColumns } from './window.ts'

interface RowProps {
  readonly index: number
  /** Undefined until it is loaded. */
  readonly entity: Entity | undefined
  readonly view: VisibleColumns
  /** Width of the row number. */
  readonly numbers: number
  /** Vertical position in pixels. */
  readonly top: number
  readonly isChosen: boolean
  /** True if the panel shows the entity. */
  readonly isOpen: boolean
  /** Position of the column that has the keyboard focus. */
  readonly focused: number | undefined
}

/** A row. Clicks are handled by the table, which finds row and column in `data-row` and `data-column`. */
export function Row({ index, entity, view, numbers, top, isChosen, isOpen, focused }: RowProps) {
  return (
    <tr
      data-row={index}
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      aria-current={isOpen ? 'true' : undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <th scope="row" aria-colindex={1} style={{ width: `${numbers}px` }}>
        {number(index + 1)}
      </th>
      {view.columns.map((column, at) => {
        const position = view.first + at
        return (
          <td
            key={column.path}
            id={cellId(index, position)}
            data-column={position}
            class={`${isNumeric(column.attribute) ? 'numeric' : ''}${focused === position ? ' focused' : ''}`}
            aria-colindex={position + 2}
            style={cellStyle(column.width, at === 0 ? view.left : 0)}
          >
            {entity?.__KEY === undefined ? (
              entity && position === 0 && <small>{text('deleted')}</small>
            ) : (
              <Cell column={column} entity={entity} />
            )}
          </td>
        )
      })}
    </tr>
  )
}

/** Id of a cell; the header has row -1. */
export const cellId = (row: number, column: number): string => `cell-${row}-${column}`

/** @param space width of the preceding columns that are not rendered */
export const cellStyle = (width: number, space: number) => ({
  width: `${width}px`,
  marginLeft: space > 0 ? `${space}px` : undefined,
})

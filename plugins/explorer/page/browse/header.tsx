import { useSignal } from '@preact/signals'
import { place } from '../base/place.ts'
import { clampWidth, type Column, isNumeric, orderPath } from './columns.ts'
import { chooseColumn, moveColumn, resizeColumn } from './header-actions.ts'
import { parseOrder } from './order.ts'
import { cellId, cellStyle } from './row.tsx'
import { text } from './texts.ts'
import type { VisibleColumns } from './window.ts'

interface HeaderProps {
  readonly columns: readonly Column[]
  readonly view: VisibleColumns
  /** Width of the column with the row numbers. */
  readonly numbers: number
  readonly width: number
  /** Position of the column that has the keyboard focus. */
  readonly focused: number | undefined
}

/** Names of the columns: a click orders by one, with shift adds it to the order; dragging moves a column, its edge resizes it. */
export function Header({ columns, view, numbers, width, focused }: HeaderProps) {
  const terms = parseOrder(place.value.query.order ?? '')
  const dragged = useSignal<number | undefined>(undefined)
  return (
    <thead style={{ width: `${width}px` }}>
      <tr aria-rowindex={1}>
        <th scope="col" aria-colindex={1} style={{ width: `${numbers}px` }}>
          <span class="unseen">{text('row')}</span>
        </th>
        {view.columns.map((column, index) => {
          const at = view.first + index
          const path = orderPath(column)
          const rank = terms.findIndex(term => term.path === path)
          const term = path === undefined ? undefined : terms[rank]
          const steps = column.path.split('.')
          return (
            <th
              key={column.path}
              id={cellId(-1, at)}
              scope="col"
              class={`${isNumeric(column.attribute) ? 'numeric' : ''}${focused === at ? ' focused' : ''}`}
              aria-colindex={at + 2}
              aria-sort={term ? (term.isDescending ? 'descending' : 'ascending') : undefined}
              title={column.attribute.description ?? column.path}
              draggable
              style={cellStyle(column.width, index === 0 ? view.left : 0)}
              onDragStart={event => {
                dragged.value = at
                event.dataTransfer?.setData('text/plain', column.path)
              }}
              onDragOver={event => dragged.value !== undefined && event.preventDefault()}
              onDrop={event => {
                event.preventDefault()
                if (dragged.value !== undefined) moveColumn(columns, dragged.value, at)
                dragged.value = undefined
              }}
            >
              <button
                type="button"
                class="quiet"
                tabIndex={-1}
                disabled={path === undefined}
                onClick={event => chooseColumn(column, event.shiftKey)}
              >
                <span class="name">
                  {steps.length > 1 && <small>{`${steps.slice(0, -1).join('.')}.`}</small>}
                  {steps.at(-1)}
                </span>
                {term && (
                  <span class="arrow" aria-hidden="true">
                    {term.isDescending ? '↓' : '↑'}
                    {terms.length > 1 && <small>{rank + 1}</small>}
                  </span>
                )}
              </button>
              <Edge width={column.width} onResize={next => resizeColumn(columns, at, next)} />
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

/** The right edge of a header. While it is dragged only a line moves; the columns are resized when it is released. */
function Edge({ width, onResize }: { readonly width: number; readonly onResize: (width: number) => void }) {
  const delta = useSignal<number | undefined>(undefined)
  const start = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const { currentTarget, clientX, pointerId } = event
    event.preventDefault()
    currentTarget.setPointerCapture(pointerId)
    const controller = new AbortController()
    const { signal } = controller
    const move = ({ clientX: x }: PointerEvent): void => {
      delta.value = clampWidth(width + x - clientX) - width
    }
    const end = (): void => {
      controller.abort()
      if (delta.value) onResize(width + delta.value)
      delta.value = undefined
    }
    delta.value = 0
    currentTarget.addEventListener('pointermove', move, { signal })
    currentTarget.addEventListener('pointerup', end, { signal })
    currentTarget.addEventListener('lostpointercapture', end, { signal })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: for pointers; keys resize at the header itself.
    <span
      class={`edge${delta.value === undefined ? '' : ' dragged'}`}
      style={{ transform: delta.value === undefined ? undefined : `translateX(${delta.value}px)` }}
      draggable
      onDragStart={event => {
        event.preventDefault()
        event.stopPropagation()
      }}
      onPointerDown={start}
    />
  )
}

import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks'
import type { DataClass } from '../base/catalog.ts'
import { choice, isChosen, NONE_CHOSEN, toggleKey } from '../base/chosen.ts'
import { SCORE } from '../base/model.ts'
import { opener } from '../base/opener.ts'
import { change, place } from '../base/place.ts'
import { number } from '../base/texts.ts'
import { complain } from '../base/work.ts'
import { ValueFilter } from '../find/value-filter.tsx'
import { lazy } from '../shell/lazy.tsx'
import { chooseRange } from './choose.ts'
import { askedFor, type Column, valuesAt } from './columns.ts'
import { copyCells } from './copy.ts'
import { fitColumns } from './fit.ts'
import { Foot } from './foot.tsx'
import { Header } from './header.tsx'
import { chooseColumn, moveColumn, resizeColumn } from './header-actions.ts'
import { actionOf, type Cell } from './keys.ts'
import { cellId, Row } from './row.tsx'
import type { Asked, Rows } from './rows.ts'
import { text } from './texts.ts'
import { Track } from './track.ts'
import { BRIEF_BYTES, pageRowsOf, visibleColumns } from './window.ts'

const Detail = lazy(async () => (await import('./detail.tsx')).Detail)

/** Sizes in pixels, as in grid.css. */
const ROW = 28
const HEAD = 30
/** Rows rendered above and below the visible ones, so that scrolling shows no gaps. */
const MARGIN = 8
/** Delay after scrolling before the bar of a very long list is moved to its proper position. */
const REST_MS = 200

interface TableProps {
  readonly rows: Rows
  readonly columns: readonly Column[]
  readonly dataClass: DataClass
}

/** The visible rows and columns of a list of any length. */
export function Table({ rows, columns: chosenColumns, dataClass }: TableProps) {
  const box = useRef<HTMLTableElement>(null)
  const track = useMemo(() => new Track(), [rows])
  const [, render] = useReducer((count: number, _: undefined) => count + 1, 0)
  const scrollLeft = useRef(0)
  const width = useRef(1_000)
  /** The cell with the keyboard focus. */
  const focus = useSignal<Cell>({ row: 0, column: 0 })
  /** The cell whose whole value is shown. */
  const detail = useSignal<Cell | undefined>(undefined)
  /** The row at which a range begins. */
  const anchor = useRef(0)
  const resting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)

  const count = rows.count.value ?? 0
  // Rendered again when rows arrive.
  void rows.version.value
  track.height = count * ROW
  const columns = fitColumns(chosenColumns, rows, dataClass)
  const firstRow = Math.floor(track.top / ROW)
  const lastRow = Math.min(count, Math.ceil((track.top + track.view) / ROW)) - 1
  const numbers = numbersWidth(count)
  const view = visibleColumns(columns, scrollLeft.current, width.current - numbers)
  const options = useAsked(view.columns, dataClass)

  useEffect(() => rows.want(firstRow, Math.max(lastRow, firstRow), options))
  useLayoutEffect(() => {
    const measure = (): void => {
      track.view = Math.max(0, box.current!.clientHeight - HEAD)
      width.current = box.current!.clientWidth
      render(undefined)
    }
    measure()
    box.current!.scrollTop = 0
    focus.value = { ...focus.value, row: Math.min(focus.value.row, 0) }
    const observer = new ResizeObserver(measure)
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [rows])

  const scroll = (): void => {
    track.moveBar(box.current!.scrollTop)
    scrollLeft.current = box.current!.scrollLeft
    render(undefined)
    clearTimeout(resting.current)
    if (track.height > track.barHeight) resting.current = setTimeout(rest, REST_MS)
  }

  const rest = (): void => {
    if (!box.current) return
    // The bar may have moved before its event arrived.
    track.moveBar(box.current.scrollTop)
    goTo(track.top)
  }

  const goTo = (top: number): void => {
    if (box.current) box.current.scrollTop = track.moveTo(top)
    render(undefined)
  }

  const focusCell = (cell: Cell): void => {
    const row = Math.min(Math.max(-1, cell.row), count - 1)
    const column = Math.min(Math.max(0, cell.column), columns.length - 1)
    focus.value = { row, column }
    const top = row * ROW
    if (row >= 0 && top < track.top) goTo(top)
    else if (top + ROW > track.top + track.view) goTo(top + ROW - track.view)
    const start = columns.slice(0, column).reduce((sum, each) => sum + each.width, 0)
    const end = start + (columns[column]?.width ?? 0)
    const view = width.current - numbers
    const target = box.current!
    if (start < target.scrollLeft) target.scrollLeft = start
    else if (end > target.scrollLeft + view) target.scrollLeft = end - view
  }

  const choose = (row: number): void => {
    const key = rows.at(row)?.__KEY
    anchor.current = row
    if (key !== undefined) choice.value = toggleKey(choice.value, key)
  }
  const chooseTo = (row: number): void => {
    const [first, last] = [Math.min(anchor.current, row), Math.max(anchor.current, row)]
    chooseRange(rows, first, last, dataClass.key[0]!.name).catch(complain)
  }
  const open = (row: number): void => {
    const key = rows.at(row)?.__KEY
    if (key !== undefined) change({ entity: key })
  }

  const keyDown = (event: KeyboardEvent): void => {
    const cell = focus.value
    const action = actionOf(event, cell, {
      rows: count,
      columns: columns.length,
      pageRows: Math.max(1, Math.floor(track.view / ROW) - 1),
    })
    // The browser copies selected text.
    if (!action || (action.kind === 'copy' && getSelection()?.isCollapsed === false)) return
    event.preventDefault()
    const column = columns[cell.column]
    switch (action.kind) {
      case 'focus':
        focusCell(action.cell)
        if (action.isRange) chooseTo(focus.value.row)
        else anchor.current = focus.value.row
        break
      case 'open':
        opener.value = box.current!
        open(cell.row)
        break
      case 'detail':
        detail.value = cell
        break
      case 'choose':
        choose(cell.row)
        break
      case 'chooseAll':
        choice.value = { isAll: true, keys: new Set() }
        break
      case 'chooseNone':
        choice.value = NONE_CHOSEN
        break
      case 'copy':
        copyCells(rows, columns, dataClass, cell).catch(complain)
        break
      case 'order':
        if (column) chooseColumn(column, action.isAdded)
        break
      case 'move':
        moveColumn(columns, cell.column, cell.column + action.by)
        focusCell({ row: -1, column: cell.column + action.by })
        break
      case 'resize':
        if (column) resizeColumn(columns, cell.column, column.width + action.by)
    }
  }

  const click = (event: MouseEvent): void => {
    const cell = cellOf(event)
    if (!cell || cell.row < 0) return
    if (isWithin(event, '.whole')) {
      focusCell(cell)
      detail.value = cell
    } else if (isWithin(event, 'a, button')) return
    else if (cell.column >= 0 && !event.shiftKey) {
      focusCell(cell)
      anchor.current = cell.row
    } else if (event.shiftKey) chooseTo(cell.row)
    else choose(cell.row)
  }
  const doubleClick = (event: MouseEvent): void => {
    const cell = cellOf(event)
    if (cell && cell.row >= 0 && cell.column >= 0 && !isWithin(event, 'a, button')) {
      opener.value = undefined
      open(cell.row)
    }
  }

  const total = columns.reduce((sum, each) => sum + each.width, numbers)
  const start = Math.max(0, firstRow - MARGIN)
  const end = Math.min(count - 1, lastRow + MARGIN)
  const { row, column } = focus.value
  const focusedEntity = rows.at(row)
  const focusedColumn = columns[column]
  const detailKey = detail.value && rows.at(detail.value.row)?.__KEY
  const detailColumn = detail.value && columns[detail.value.column]
  return (
    <>
      <table
        ref={box}
        class="grid"
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: as WAI-ARIA describes grids made of tables.
        role="grid"
        tabIndex={0}
        aria-label={text('entities', { name: dataClass.name })}
        aria-rowcount={count + 1}
        aria-colcount={columns.length + 1}
        aria-multiselectable="true"
        aria-busy={rows.count.value === undefined}
        aria-activedescendant={row < count ? cellId(row, column) : undefined}
        onScroll={scroll}
        onKeyDown={keyDown}
        onClick={click}
        onDblClick={doubleClick}
      >
        <Header columns={columns} view={view} numbers={numbers} width={total} focused={row < 0 ? column : undefined} />
        <tbody style={{ height: `${track.barHeight}px`, width: `${total}px` }}>
          {Array.from({ length: Math.max(0, end - start + 1) }, (_, at) => {
            const index = start + at
            const entity = rows.at(index)
            const key = entity?.__KEY
            return (
              <Row
                key={index}
                index={index}
                entity={entity}
                view={view}
                numbers={numbers}
                top={index * ROW - track.shift}
                isChosen={key !== undefined && isChosen(choice.value, key)}
                isOpen={key !== undefined && key === place.value.query.entity}
                focused={row === index ? column : undefined}
              />
            )
          })}
        </tbody>
      </table>
      <Foot
        rows={rows}
        first={firstRow}
        last={lastRow}
        columns={columns}
        onGoTo={row => {
          focus.value = { ...focus.value, row: Math.min(row, count - 1) }
          goTo(row * ROW)
        }}
      >
        {focusedEntity && focusedColumn && (
          <ValueFilter
            path={focusedColumn.path}
            attribute={focusedColumn.attribute}
            values={valuesAt(focusedEntity, focusedColumn.path)}
          />
        )}
      </Foot>
      {detailKey !== undefined && detailColumn && (
        <Detail
          dataClass={dataClass}
          entityKey={detailKey}
          column={detailColumn}
          onClose={() => {
            detail.value = undefined
          }}
        />
      )}
    </>
  )
}

const isWithin = ({ target }: MouseEvent, selector: string): boolean =>
  target instanceof Element && target.closest(selector) !== null

/** Row and column of a click; -1 outside of rows or columns. */
function cellOf({ target }: MouseEvent): Cell | undefined {
  if (!(target instanceof Element)) return undefined
  const row = target.closest<HTMLElement>('tr')?.dataset.row
  const column = target.closest<HTMLElement>('td')?.dataset.column
  return { row: Number(row ?? -1), column: Number(column ?? -1) }
}

/** Width of the column with the row numbers. */
const numbersWidth = (count: number): number => Math.max(44, 8 * number(count).length + 20)

/** Returns the same object while the options does not change. */
function useAsked(columns: readonly Column[], dataClass: DataClass): Asked {
  return useMemo(
    () => ({
      parameters: { ...askedFor(columns, dataClass.key[0]!.name), $brief: BRIEF_BYTES },
      pageRows: pageRowsOf(columns),
      needsQuery: columns.some(({ path }) => path === SCORE),
    }),
    [dataClass, columns.map(({ path }) => path).join()],
  )
}

import { useEffect, useMemo, useRef } from 'preact/hooks'
import { choice, NONE_CHOSEN, shownSet } from '../base/chosen.ts'
import { type DataClass, targetOf } from '../base/catalog.ts'
import { place } from '../base/place.ts'
import { entitySetPath } from '../base/paths.ts'
import { ask, read, RestError } from '../base/rest.ts'
import { parametersOf, pathOf, type Selection, selection } from '../base/selection.ts'
import { complain } from '../base/work.ts'
import { lastWrite } from '../base/writes.ts'
import { Fault } from '../components/fault.tsx'
import { defaultColumns, parseColumns } from './columns.ts'
import { type Page, type RowSource, Rows } from './rows.ts'
import { Table } from './table.tsx'
import './grid.css'

/** Seconds without use after which the server forgets the set of a grid; it is recreated when needed. */
const SET_SECONDS = 600
/** Time between two checks for changes of the store while the page is visible. */
const CHECK_MS = 30_000

/** The entities of the selection as rows. */
export function Grid() {
  const currentSelection = selection.value!
  const { dataClass } = currentSelection
  const key = JSON.stringify([pathOf(currentSelection), parametersOf(currentSelection)])
  /** Rows of the previous selection, if it was of the same dataclass: shown until the first new ones arrive. */
  const before = useRef<{ readonly dataClass: DataClass; readonly rows: Rows } | undefined>(undefined)
  const rows = useMemo(() => {
    const rows = new Rows(
      sourceOf(currentSelection),
      before.current?.dataClass === dataClass ? before.current.rows : undefined,
    )
    before.current = { dataClass, rows }
    return rows
  }, [dataClass, key])
  useEffect(() => {
    choice.value = NONE_CHOSEN
    const stop = rows.set.subscribe(id => {
      shownSet.value = id === undefined ? undefined : { dataClass: dataClass.name, id, count: rows.count.peek() ?? 0 }
    })
    return () => {
      stop()
      shownSet.value = undefined
      rows.close()
    }
  }, [rows])
  useEffect(() => lastWrite.subscribe(write => write && rows.set.peek() !== undefined && rows.reload()), [rows])
  useEffect(() => watch(signal => rows.check(signal)), [rows])

  const chosenColumns = place.value.query.columns
  const columns = useMemo(() => {
    const columns = chosenColumns === undefined ? [] : parseColumns(chosenColumns, dataClass, targetOf)
    return columns.length > 0 ? columns : defaultColumns(dataClass, targetOf)
  }, [dataClass, chosenColumns])

  const error = rows.error.value
  if (error === undefined) return <Table rows={rows} columns={columns} dataClass={dataClass} />
  return <Fault error={error} again={() => rows.refresh()} />
}

function sourceOf(currentSelection: Selection): RowSource {
  const { dataClass } = currentSelection
  const parameters = parametersOf(currentSelection)
  return {
    create: (page, signal) =>
      read<Page>(
        pathOf(currentSelection),
        { ...parameters, ...page, $method: 'entityset', $timeout: SET_SECONDS },
        signal,
      ),
    query: (page, signal) => read<Page>(pathOf(currentSelection), { ...parameters, ...page }, signal),
    read: (set, page, signal) => ask<Page>(entitySetPath(dataClass.name, set), page, { signal }),
    // 1802: the entity set is unknown.
    isEnded: error => error instanceof RestError && error.faults[0]?.errCode === 1802,
  }
}

/** Runs `check` periodically while the page is visible, and when it becomes visible. */
function watch(check: (signal: AbortSignal) => Promise<void>): () => void {
  const controller = new AbortController()
  const { signal } = controller
  const run = (): void => {
    // A set that has ended is recreated by the next read.
    if (!document.hidden) check(signal).catch((error: unknown) => error instanceof RestError || complain(error))
  }
  const timer = setInterval(run, CHECK_MS)
  document.addEventListener('visibilitychange', run, { signal })
  return () => {
    clearInterval(timer)
    controller.abort()
  }
}

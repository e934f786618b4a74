import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Scroller } from '../components/scroller.tsx'
import { text } from './texts.ts'

export interface Column<Row> {
  readonly title: string
  readonly show: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
}

interface ListProps<Row> {
  readonly title: string
  readonly rows: readonly Row[]
  /** Total number, if the server has sent only a part. */
  readonly count?: number
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  /** Text in which a row is searched; without this function there is no search. */
  readonly searched?: (row: Row) => string
}

const SHOWN = 200

/** A searchable table of parts of the server, which shows further rows on demand. */
export function List<Row>({ title, rows, count = rows.length, columns, idOf, searched }: ListProps<Row>) {
  const [searchText, setSearchText] = useState('')
  const [limit, setLimit] = useState(SHOWN)
  const matches = searched ? rows.filter(row => searched(row).toLowerCase().includes(searchText.toLowerCase())) : rows
  return (
    <>
      <div class="actions">
        {searched && rows.length > 10 && (
          <input
            type="search"
            aria-label={text('search')}
            placeholder={text('search')}
            value={searchText}
            onInput={({ currentTarget }) => setSearchText(currentTarget.value)}
          />
        )}
        <small role="status">{text('shown', { count: matches.length, all: count })}</small>
      </div>
      <Scroller label={title}>
        <table>
          <thead>
            <tr>
              {columns.map(({ title, isNumber }) => (
                <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {matches.slice(0, limit).map(row => (
              <tr key={idOf(row)}>
                {columns.map(({ title, show, isNumber }) => (
                  <td key={title} class={isNumber ? 'number' : undefined}>
                    {show(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
      {matches.length > limit && (
        <button type="button" onClick={() => setLimit(limit + SHOWN)}>
          {text('more')}
        </button>
      )}
    </>
  )
}

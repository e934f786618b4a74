import type { ComponentChildren } from 'preact'
import { choice, countChosen, NONE_CHOSEN } from '../base/chosen.ts'
import { number } from '../base/texts.ts'
import type { Column } from './columns.ts'
import { ColumnsButton } from './columns-button.tsx'
import type { Rows } from './rows.ts'
import { text } from './texts.ts'

interface FootProps {
  readonly rows: Rows
  /** Positions of the visible rows. */
  readonly first: number
  readonly last: number
  readonly columns: readonly Column[]
  readonly onGoTo: (row: number) => void
  /** Actions on the focused cell. */
  readonly children?: ComponentChildren
}

/** The position in the list, the number of chosen rows, and a notice if the data has changed. */
export function Foot({ rows, first, last, columns, onGoTo, children }: FootProps) {
  const count = rows.count.value
  const many = countChosen(choice.value, count ?? 0)
  return (
    <div class="foot">
      <span role="status" class={count ? 'unseen' : undefined}>
        {count === undefined ? text('loading') : count === 0 ? text('empty') : text('count', { count })}
      </span>
      {!!count && (
        <>
          <span>{text('position', { first: number(first + 1), last: number(last + 1), count: number(count) })}</span>
          <form
            onSubmit={event => {
              event.preventDefault()
              const row = Number(new FormData(event.currentTarget).get('row'))
              if (row >= 1) onGoTo(row - 1)
            }}
          >
            <label>
              {text('goTo')} <input name="row" type="number" min={1} max={count} required />
            </label>
          </form>
        </>
      )}
      {many > 0 && (
        <span role="status">
          {text('chosen', { count: many })}{' '}
          <button
            type="button"
            class="quiet"
            onClick={() => {
              choice.value = NONE_CHOSEN
            }}
          >
            {text('clear')}
          </button>
        </span>
      )}
      {rows.isStale.value && (
        <span role="status" class="stale">
          {text('stale')}{' '}
          <button type="button" onClick={() => rows.refresh()}>
            {text('refresh')}
          </button>
        </span>
      )}
      <span class="gap" />
      {children}
      <ColumnsButton columns={columns} />
    </div>
  )
}

import type { ComponentType } from 'preact'
import type { DataClass } from '../base/model.ts'
import { storedSignal } from '../base/remembered.ts'
import { RestError } from '../base/rest.ts'
import { selection } from '../base/selection.ts'
import { lazy } from '../shell/lazy.tsx'
import { type Check, useCheck } from './check.ts'
import { Chips } from './chips.tsx'
import { currentFilter, apply, draft, effective, incompleteText } from './draft.ts'
import { errorPlace } from './error-place.ts'
import { FilterInput } from './filter-input.tsx'
import { meaningsOf } from './meaning.ts'
import { quickFilter } from './quick.ts'
import { text } from './texts.ts'
import './find.css'

interface Panel {
  readonly name: 'builder' | 'meaning' | 'saved' | 'sets'
  readonly View: ComponentType
  /** Returns true if the panel suits a dataclass; by default every one. */
  readonly isFor?: (dataClass: DataClass) => boolean
}

const PANELS: readonly Panel[] = [
  { name: 'builder', View: lazy(async () => (await import('./builder.tsx')).Builder) },
  {
    name: 'meaning',
    View: lazy(async () => (await import('./meaning-panel.tsx')).MeaningPanel),
    isFor: dataClass => meaningsOf(dataClass).length > 0,
  },
  { name: 'saved', View: lazy(async () => (await import('./saved-panel.tsx')).SavedPanel) },
  { name: 'sets', View: lazy(async () => (await import('./sets-panel.tsx')).SetsPanel) },
]
/** Name of the open panel below the text; empty for none. */
const panel = storedSignal('find.panel', '')

/** The filter of the selection, above its views: as text and as rows of conditions. */
export function FindBar() {
  const check = useCheck(selection.value!, draft.value === incompleteText.value ? '' : effective.value)
  const { dataClass } = selection.value!
  const panels = PANELS.filter(({ isFor }) => isFor?.(dataClass) ?? true)
  const currentPanel = panels.find(({ name }) => name === panel.value)
  return (
    <search class="find">
      <form
        onSubmit={event => {
          event.preventDefault()
          apply()
        }}
      >
        <div class="line">
          <FilterInput check={check} />
          {draft.value !== '' && (
            <button
              type="button"
              class="quiet"
              aria-label={text('clear')}
              title={text('clear')}
              onClick={() => apply('')}
            >
              ×
            </button>
          )}
          {panels.map(({ name }) => (
            <button
              key={name}
              type="button"
              aria-expanded={name === panel.value}
              onClick={() => {
                panel.value = name === panel.value ? '' : name
              }}
            >
              {text(name)}
            </button>
          ))}
          <button type="submit" class={draft.value === currentFilter.value ? '' : 'main'}>
            {text('apply')}
          </button>
        </div>
        <Answer check={check} />
        <Chips />
        {currentPanel && <currentPanel.View />}
      </form>
    </search>
  )
}

/** The server's verdict on the draft: the number of entities that it finds, or the error. */
function Answer({ check }: { readonly check: Check }) {
  const words = quickFilter(draft.value, selection.value!.dataClass)
  return (
    <p id="find-answer" class={check.kind === 'error' ? 'answer wrong' : 'answer'} aria-live="polite">
      {check.kind === 'count' && draft.value !== currentFilter.value && text('found', { count: check.count })}
      {words && ` ${text('inWords', { attributes: words.attributes.join(', ') })}`}
      {check.kind === 'late' && text('late')}
      {check.kind === 'error' && <Wrong error={check.error} filter={check.filter} />}
    </p>
  )
}

function Wrong({ error, filter }: { readonly error: unknown; readonly filter: string }) {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof RestError ? error.faults[0]?.errCode : undefined
  const { start, end, proposal } = errorPlace(message, filter)
  return (
    <>
      {message} <small>{code}</small>
      {proposal !== undefined && (
        <button
          type="button"
          onClick={() => {
            draft.value = filter.slice(0, start) + proposal + filter.slice(end)
          }}
        >
          {text('replace', { proposal })}
        </button>
      )}
    </>
  )
}

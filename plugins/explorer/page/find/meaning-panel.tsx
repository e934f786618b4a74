import { useEffect, useRef, useState } from 'preact/hooks'
import { change, place } from '../base/place.ts'
import { read, RestError } from '../base/rest.ts'
import { pathOf, selection } from '../base/selection.ts'
import { Fault } from '../components/fault.tsx'
import { Waiting } from '../components/waiting.tsx'
import { currentFilter } from './draft.ts'
import { columnsWithScore, filterByMeaning, meaningsOf } from './meaning.ts'
import { text } from './texts.ts'

/** Number of attempts while the server loads a model, with this pause between them. */
const TRIES = 8
const PAUSE_MS = 1_500

/** Search for the entities that are about a sentence. */
export function MeaningPanel() {
  const currentSelection = selection.value!
  const meanings = meaningsOf(currentSelection.dataClass)
  const [name, setName] = useState(meanings[0]?.name)
  const [sentence, setSentence] = useState('')
  const [state, setState] = useState<{
    readonly isLoading?: boolean
    readonly isCancelled?: boolean
    readonly error?: unknown
  }>({})
  const activeController = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => activeController.current?.abort(), [])
  const attribute = meanings.find(each => each.name === name) ?? meanings[0]
  if (!attribute) return null

  const search = async (): Promise<void> => {
    if (sentence.trim() === '') return
    activeController.current?.abort()
    const controller = new AbortController()
    activeController.current = controller
    setState({ isLoading: true })
    try {
      const filter = filterByMeaning(currentFilter.value, attribute, sentence.trim())
      await untilReady(
        signal => read(pathOf(currentSelection), { $filter: `"${filter}"`, $top: 0 }, signal),
        controller.signal,
      )
      setState({})
      const columns = columnsWithScore(place.value.query.columns, currentSelection.dataClass)
      change({ filter, order: undefined, similar: undefined, columns })
    } catch (error) {
      if (!controller.signal.aborted) setState({ error })
    }
  }
  return (
    <section class="panel" aria-label={text('meaning')}>
      <div class="name">
        <input
          class="sentence"
          aria-label={text('sentence')}
          placeholder={text('sentence')}
          value={sentence}
          maxLength={500}
          onInput={({ currentTarget }) => setSentence(currentTarget.value)}
          onKeyDown={event => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            void search()
          }}
        />
        {meanings.length > 1 && (
          <select
            aria-label={text('attribute')}
            value={attribute.name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          >
            {meanings.map(each => (
              <option key={each.name}>{each.name}</option>
            ))}
          </select>
        )}
        <button type="button" onClick={() => void search()}>
          {text('search')}
        </button>
      </div>
      <Waiting
        label={text('searching')}
        isLoading={state.isLoading ?? false}
        isCancelled={state.isCancelled ?? false}
        cancel={() => {
          activeController.current?.abort()
          setState({ isCancelled: true })
        }}
      />
      {state.error !== undefined && <Fault error={state.error} />}
    </section>
  )
}

/** Repeats a request while the server says that it is not ready. */
async function untilReady(request: (signal: AbortSignal) => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await request(signal)
      return
    } catch (error) {
      if (!(error instanceof RestError) || error.status !== 503 || attempt === TRIES) throw error
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
      signal.throwIfAborted()
    }
  }
}

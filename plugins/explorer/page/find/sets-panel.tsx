/** Panel for keeping, opening, combining and releasing entity sets of a dataclass. */
import { useEffect, useState } from 'preact/hooks'
import { go, linkTo, place } from '../base/place.ts'
import { isAbort } from '../base/rest.ts'
import { selection } from '../base/selection.ts'
import { language, number } from '../base/texts.ts'
import { complain } from '../base/work.ts'
import { useAnswer } from '../components/use-answer.ts'
import { NameForm } from './name-form.tsx'
import { RemoveButton } from './remove-button.tsx'
import {
  countCombined,
  countSet,
  endOf,
  forgetSet,
  keepCombined,
  keepSelection,
  type KeptSet,
  OPERATORS,
  release,
  sets,
} from './sets.ts'
import { text } from './texts.ts'

export function SetsPanel() {
  const currentSelection = selection.value!
  const { name } = currentSelection.dataClass
  const all = sets.value[name] ?? []
  const endedIds = useEnded(name, all)
  const living = all.filter(({ id }) => !endedIds.has(id))
  return (
    <section class="panel" aria-label={text('sets')}>
      <NameForm
        label={text('nameOfSet')}
        button={text('keep')}
        onName={each => void keepSelection(currentSelection, each).catch(complain)}
      />
      {all.length === 0 && <p class="hint">{text('noSets')}</p>}
      {all.length > 0 && (
        <ul class="sets" aria-label={text('sets')}>
          {all.map(set => (
            <SetItem key={set.id} dataClass={name} set={set} hasEnded={endedIds.has(set.id)} />
          ))}
        </ul>
      )}
      {living.length > 1 && <Combination dataClass={name} sets={living} />}
    </section>
  )
}

/** Ids of the sets that no longer exist on the server, which is queried once for each set that the panel shows. */
function useEnded(dataClass: string, all: readonly KeptSet[]): ReadonlySet<string> {
  const [endedIds, setEndedIds] = useState<ReadonlySet<string>>(new Set())
  const ids = all.map(({ id }) => id).join()
  useEffect(() => {
    const controller = new AbortController()
    const check = async (): Promise<void> => {
      for (const id of ids.split(',').filter(Boolean)) {
        const count = await countSet(dataClass, id, controller.signal)
        if (count === undefined) setEndedIds(before => new Set([...before, id]))
      }
    }
    check().catch(error => isAbort(error) || complain(error))
    return () => controller.abort()
  }, [dataClass, ids])
  return endedIds
}

interface SetProps {
  readonly dataClass: string
  readonly set: KeptSet
  readonly hasEnded: boolean
}

function SetItem({ dataClass, set, hasEnded }: SetProps) {
  const { id, name, count } = set
  if (hasEnded) {
    return (
      <li>
        <s>{name}</s>
        <small>{text('ended')}</small>
        <RemoveButton name={name} onClick={() => forgetSet(dataClass, id)} />
      </li>
    )
  }
  const end = new Date(endOf(set)).toLocaleTimeString(language.value, { timeStyle: 'short' })
  return (
    <li>
      <a href={linkTo([dataClass], { set: id })} aria-current={place.value.query.set === id ? 'page' : undefined}>
        {name}
      </a>
      <span>{text('entities', { count })}</span>
      <small>{text('endsAt', { time: end })}</small>
      <button type="button" class="quiet" onClick={() => void releaseSet(dataClass, id)}>
        {text('release')}
      </button>
    </li>
  )
}

async function releaseSet(dataClass: string, id: string): Promise<void> {
  try {
    await release(dataClass, id)
    if (place.value.query.set === id) go(linkTo([dataClass]))
  } catch (error) {
    complain(error)
  }
}

interface CombinationProps {
  readonly dataClass: string
  readonly sets: readonly KeptSet[]
}

const SIGNS = { AND: '∩', OR: '∪', EXCEPT: '∖' } as const
const NAMES = { AND: 'and', OR: 'or', EXCEPT: 'except' } as const

/** Two sets, and the size of each combination, which a click keeps and opens. */
function Combination({ dataClass, sets }: CombinationProps) {
  const [first, setFirst] = useState<string>()
  const [second, setSecond] = useState<string>()
  const one = sets.find(({ id }) => id === first) ?? sets[0]!
  const other = sets.find(({ id }) => id === second) ?? sets.find(each => each !== one)!
  const { result } = useAnswer(
    async signal => Promise.all(OPERATORS.map(each => countCombined(dataClass, one.id, other.id, each, signal))),
    [dataClass, one.id, other.id],
  )
  return (
    <div class="combination">
      <SetChoice label={text('firstSet')} sets={sets} set={one} onChoice={setFirst} />
      <SetChoice label={text('secondSet')} sets={sets} set={other} onChoice={setSecond} />
      {OPERATORS.map((operator, index) => {
        const name = `${one.name} ${SIGNS[operator]} ${other.name}`
        return (
          <button
            key={operator}
            type="button"
            onClick={() =>
              void keepCombined(dataClass, [one, other], operator, name)
                .then(({ id }) => go(linkTo([dataClass], { set: id })))
                .catch(complain)
            }
          >
            {text(NAMES[operator])} <small>{result && number(result[index]!)}</small>
          </button>
        )
      })}
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly sets: readonly KeptSet[]
  readonly set: KeptSet
  readonly onChoice: (id: string) => void
}

const SetChoice = ({ label, sets, set, onChoice }: ChoiceProps) => (
  <select aria-label={label} value={set.id} onChange={({ currentTarget }) => onChoice(currentTarget.value)}>
    {sets.map(({ id, name }) => (
      <option key={id} value={id}>
        {name}
      </option>
    ))}
  </select>
)

import { useSignal } from '@preact/signals'
import { targetOf, type DataClass } from '../base/catalog.ts'
import { labelOf } from '../base/label.ts'
import { read } from '../base/rest.ts'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { type FieldProps, inputIn, setInput } from './draft.ts'
import { knownLabel, rememberLabel } from './known-labels.ts'
import { type Entity, labelText, linkedEntity } from './load-entity.ts'
import { text } from './texts.ts'

const FOUND = 12
/** Milliseconds after the last keystroke. */
const PAUSE = 150

interface Props extends FieldProps {
  readonly id: string
}

/** The related entity, found by typing a part of its label. */
export function RelationField({ id, draft, attribute, ...shared }: Props) {
  const target = targetOf(attribute)!
  /** The typed text; undefined while there is no search. */
  const wanted = useSignal<string | undefined>(undefined)
  const active = useSignal(0)
  const { result: found = [], error } = useAnswer(signal => find(target, wanted.value, signal), [wanted.value])

  const input = inputIn(draft, attribute)
  const key = typeof input === 'string' ? input : undefined
  const choose = (entity: Entity | undefined): void => {
    if (entity) rememberLabel({ dataClass: target.name, key: entity.__KEY }, labelText(target, entity, entity.__KEY))
    setInput(attribute, entity ? entity.__KEY : null)
    wanted.value = undefined
  }
  const isOpen = wanted.value !== undefined
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      if (!isOpen) wanted.value = ''
      else active.value = Math.min(Math.max(active.value + step, 0), Math.max(0, found.length - 1))
    } else if (event.key === 'Enter' && isOpen && !event.ctrlKey) {
      if (found[active.value]) choose(found[active.value])
    } else if (event.key === 'Escape' && isOpen) wanted.value = undefined
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const label = (): string => {
    if (key === undefined) return ''
    const stored = linkedEntity(draft.base?.entity[attribute.name])
    return stored?.key === key ? labelText(target, stored.values, key) : knownLabel({ dataClass: target.name, key })
  }
  return (
    <div class="picker">
      <input
        {...shared}
        id={id}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-found` : undefined}
        aria-activedescendant={isOpen && found[active.value] ? `${id}-${active.value}` : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        placeholder="null"
        value={wanted.value ?? label()}
        onInput={({ currentTarget }) => {
          wanted.value = currentTarget.value
          active.value = 0
        }}
        onBlur={() => {
          wanted.value = undefined
        }}
        onKeyDown={onKeyDown}
      />
      {key !== undefined && (
        <button
          type="button"
          class="quiet"
          aria-label={text('remove', { name: attribute.name })}
          onClick={() => choose(undefined)}
        >
          ×
        </button>
      )}
      {isOpen && error !== undefined && <Fault error={error} />}
      {isOpen && (
        <div class="found" id={`${id}-found`} role="listbox" aria-label={target.name}>
          {found.map((entity, at) => (
            <div
              key={entity.__KEY}
              id={`${id}-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === active.value}
              // Keeps the focus in the field.
              onMouseDown={event => {
                event.preventDefault()
                choose(entity)
              }}
            >
              {labelText(target, entity, entity.__KEY)} <small>{entity.__KEY}</small>
            </div>
          ))}
        </div>
      )}
    </div>
  )
}

async function find(target: DataClass, wanted: string | undefined, signal: AbortSignal): Promise<readonly Entity[]> {
  if (wanted === undefined) return []
  await new Promise(resolve => setTimeout(resolve, PAUSE))
  signal.throwIfAborted()
  const label = labelOf(target)
  const typed = wanted.trim()
  const isText = label.type === 'string'
  const answer = await read<{ readonly __ENTITIES: readonly Entity[] }>(
    target.name,
    {
      $attributes: label.name,
      $orderby: label.name,
      $top: FOUND,
      ...(typed !== '' && {
        $filter: `"${label.name} = :1"`,
        $params: JSON.stringify([isText ? `@${typed}@` : typed]),
      }),
    },
    signal,
  )
  return answer.__ENTITIES
}

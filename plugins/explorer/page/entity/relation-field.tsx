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
export function RelationField({ id, draft, attribute, ...inputProps }: Props) {
  const target = targetOf(attribute)!
  /** The typed text; undefined while there is no search. */
  const searchText = useSignal<string | undefined>(undefined)
  const active = useSignal(0)
  const { result: matches = [], error } = useAnswer(
    signal => find(target, searchText.value, signal),
    [searchText.value],
  )

  const input = inputIn(draft, attribute)
  const key = typeof input === 'string' ? input : undefined
  const choose = (entity: Entity | undefined): void => {
    if (entity) rememberLabel({ dataClass: target.name, key: entity.__KEY }, labelText(target, entity, entity.__KEY))
    setInput(attribute, entity ? entity.__KEY : null)
    searchText.value = undefined
  }
  const isOpen = searchText.value !== undefined
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      if (!isOpen) searchText.value = ''
      else active.value = Math.min(Math.max(active.value + step, 0), Math.max(0, matches.length - 1))
    } else if (event.key === 'Enter' && isOpen && !event.ctrlKey) {
      if (matches[active.value]) choose(matches[active.value])
    } else if (event.key === 'Escape' && isOpen) searchText.value = undefined
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const label = (): string => {
    if (key === undefined) return ''
    const storedLink = linkedEntity(draft.base?.entity[attribute.name])
    return storedLink?.key === key
      ? labelText(target, storedLink.values, key)
      : knownLabel({ dataClass: target.name, key })
  }
  return (
    <div class="picker">
      <input
        {...inputProps}
        id={id}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-found` : undefined}
        aria-activedescendant={isOpen && matches[active.value] ? `${id}-${active.value}` : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        placeholder="null"
        value={searchText.value ?? label()}
        onInput={({ currentTarget }) => {
          searchText.value = currentTarget.value
          active.value = 0
        }}
        onBlur={() => {
          searchText.value = undefined
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
          {matches.map((entity, at) => (
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

async function find(
  target: DataClass,
  searchText: string | undefined,
  signal: AbortSignal,
): Promise<readonly Entity[]> {
  if (searchText === undefined) return []
  await new Promise(resolve => setTimeout(resolve, PAUSE))
  signal.throwIfAborted()
  const label = labelOf(target)
  const typed = searchText.trim()
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

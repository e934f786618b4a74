import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { type Attribute, attributeOf, targetOf } from '../base/catalog.ts'
import { changedInputs, storedInput } from './changes.ts'
import { type Draft, draft as current } from './draft.ts'
import { editable, editorByType, type Input, inputOf } from './editor.ts'
import { FileView } from './file-field.tsx'
import { knownLabel } from './known-labels.ts'
import { labelText, linkedEntity, type LoadedEntity, storedAt } from './load-entity.ts'
import { changesAfter, fileRows, mergeRows, type Side } from './merge.ts'
import { text } from './texts.ts'
import { localTime } from './times.ts'

interface ConflictProps {
  readonly draft: Draft
  /** The entity as other users have saved it. */
  readonly theirs: LoadedEntity
  readonly onClose: () => void
}

/** Changes of this user and of others since the entity was read, in three columns. */
export function Conflict({ draft, theirs, onClose }: ConflictProps) {
  const choices = useSignal<ReadonlyMap<string, Side>>(new Map())
  // A value too large for the form is loaded only in part, so the value of the other user stays.
  const names = editable(draft.dataClass, false).flatMap(({ name }) => (draft.base?.large.has(name) ? [] : [name]))
  const of = (name: string): Attribute => attributeOf(draft.dataClass, name)!
  const rows = mergeRows(
    names,
    name => storedInput(draft, of(name)),
    changedInputs(draft),
    name => inputOf(of(name), theirs.json.get(name)),
  )
  const storedIn = (original: LoadedEntity | undefined, name: string): string | undefined =>
    storedAt(original?.entity[name])
  const files = fileRows(
    draft.files,
    name => storedIn(draft.base, name),
    name => storedIn(theirs, name),
  )
  const take = (): void => {
    current.value = {
      ...draft,
      base: theirs,
      inputs: changesAfter(rows, choices.value),
      files: changesAfter(files, choices.value),
    }
    onClose()
  }
  const sides = (name: string, from: Side, show: (side: Side) => ComponentChildren) =>
    (['mine', 'theirs'] as const).map(side => (
      <td key={side} class={(choices.value.get(name) ?? from) === side ? 'taken' : ''}>
        <label>
          <input
            type="radio"
            name={`choice-${name}`}
            checked={(choices.value.get(name) ?? from) === side}
            onChange={() => {
              choices.value = new Map(choices.value).set(name, side)
            }}
          />
          {show(side)}
        </label>
      </td>
    ))
  return (
    <section class="conflict" aria-label={text('conflict')}>
      <h2>{text('conflict')}</h2>
      <p>{text('conflictHint')}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{text('attribute')}</th>
            <th scope="col">{text('base')}</th>
            <th scope="col">{text('mine')}</th>
            <th scope="col">{text('theirs')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, base, mine, theirs: their, from, isConflict }) => (
            <tr key={name} class={isConflict ? 'contested' : ''}>
              <th scope="row">{name}</th>
              <td>
                <Shown attribute={of(name)} input={base} original={draft.base} />
              </td>
              {sides(name, from, side => (
                <Shown
                  attribute={of(name)}
                  input={side === 'mine' ? mine : their}
                  original={side === 'mine' ? draft.base : theirs}
                />
              ))}
            </tr>
          ))}
          {files.map(({ name, mine, theirs: their, from, isConflict }) => (
            <tr key={name} class={isConflict ? 'contested' : ''}>
              <th scope="row">{name}</th>
              <td />
              {sides(name, from, side => (
                <FileView attribute={of(name)} file={side === 'mine' ? mine : undefined} uri={their} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div class="foot">
        <button type="button" class="main" onClick={take}>
          {text('merge')}
        </button>
        <button type="button" onClick={onClose}>
          {text('back')}
        </button>
      </div>
    </section>
  )
}

const MAX_TEXT = 300

interface ShownProps {
  readonly attribute: Attribute
  readonly input: Input
  /** Entity that the input may come from. */
  readonly original: LoadedEntity | undefined
}

function Shown({ attribute, input, original }: ShownProps) {
  if (input === null) return <span class="null">null</span>
  if (typeof input === 'boolean') return <>{text(input ? 'yes' : 'no')}</>
  const target = attribute.kind === 'relatedEntity' ? targetOf(attribute) : undefined
  if (!target) {
    const shownText = editorByType(attribute) === 'time' ? localTime(input) : input
    return <span class="text">{shownText.length > MAX_TEXT ? `${shownText.slice(0, MAX_TEXT)}…` : shownText}</span>
  }
  const link = linkedEntity(original?.entity[attribute.name])
  return (
    <>
      {link?.key === input ? labelText(target, link.values, input) : knownLabel({ dataClass: target.name, key: input })}
    </>
  )
}

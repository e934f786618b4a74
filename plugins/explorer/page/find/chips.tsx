/** Parts of the selection other than its filter: the entity set, and the entity to which the others are similar. */
import { labelOf } from '../base/label.ts'
import { linkWith, place } from '../base/place.ts'
import { entityPath } from '../base/paths.ts'
import { ask } from '../base/rest.ts'
import { type Selection, selection } from '../base/selection.ts'
import { useAnswer } from '../components/use-answer.ts'
import { columnsWithoutScore, hasScore } from './meaning.ts'
import { countSet, sets } from './sets.ts'
import { text } from './texts.ts'

export function Chips() {
  const currentSelection = selection.value!
  if (currentSelection.set === undefined && !currentSelection.similar) return null
  return (
    <p class="chips">
      {currentSelection.set !== undefined && (
        <SetChip dataClass={currentSelection.dataClass.name} id={currentSelection.set} />
      )}
      {currentSelection.similar && <SimilarChip selection={currentSelection} similar={currentSelection.similar} />}
    </p>
  )
}

function SetChip({ dataClass, id }: { readonly dataClass: string; readonly id: string }) {
  const { result, error } = useAnswer(
    async signal => ({ count: await countSet(dataClass, id, signal) }),
    [dataClass, id],
  )
  const keptSet = sets.value[dataClass]?.find(each => each.id === id)
  const hasEnded = result !== undefined && result.count === undefined
  return (
    <span class={hasEnded ? 'chip wrong' : 'chip'} role="status">
      {keptSet ? text('setNamed', { name: keptSet.name }) : text('set')} {error instanceof Error && error.message}
      {hasEnded ? text('ended') : result?.count !== undefined && text('entities', { count: result.count })}
      <RemoveLink href={linkWith({ set: undefined })} label={text('wholeClass')} />
    </span>
  )
}

interface SimilarChipProps {
  readonly selection: Selection
  readonly similar: NonNullable<Selection['similar']>
}

function SimilarChip({ selection: { dataClass, filter }, similar: { attribute, key } }: SimilarChipProps) {
  const label = labelOf(dataClass).name
  const { result } = useAnswer(
    async signal =>
      ask<Readonly<Record<string, unknown>>>(`${entityPath(dataClass.name, key)}/${label}`, {}, { signal }),
    [dataClass.name, key],
  )
  const name = String(result?.[label] ?? key)
  const { columns } = place.value.query
  const changes = {
    similar: undefined,
    columns: hasScore(filter, dataClass) ? columns : columnsWithoutScore(columns),
  }
  return (
    <span class="chip">
      {text('similarTo', { name: name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name, attribute })}
      <RemoveLink href={linkWith(changes)} label={text('notSimilar')} />
    </span>
  )
}

const MAX_NAME = 60

const RemoveLink = ({ href, label }: { readonly href: string; readonly label: string }) => (
  <a href={href} aria-label={label} title={label}>
    ×
  </a>
)

import type { DataClass } from '../base/model.ts'
import { linkTo, place } from '../base/place.ts'
import { columnsWithScore, vectorsOf } from './meaning.ts'
import { text } from './texts.ts'

interface SimilarLinksProps {
  readonly dataClass: DataClass
  readonly entityKey: string
  readonly entity: Readonly<Record<string, unknown>>
}

/** Links to the entities most similar to a given one, for each of its vectors. */
export function SimilarLinks({ dataClass, entityKey, entity }: SimilarLinksProps) {
  const vectors = vectorsOf(dataClass).filter(({ name }) => Array.isArray(entity[name]))
  const { path, query } = place.value
  const columns = columnsWithScore(path[0] === dataClass.name ? query.columns : undefined, dataClass)
  return (
    <>
      {vectors.map(({ name }) => (
        <a key={name} class="button" href={linkTo([dataClass.name], { similar: `${name}:${entityKey}`, columns })}>
          {vectors.length === 1 ? text('similar') : text('similarBy', { attribute: name })}
        </a>
      ))}
    </>
  )
}

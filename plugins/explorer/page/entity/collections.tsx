import { type Attribute, type DataClass, targetOf } from '../base/catalog.ts'
import { linkToRelated } from '../base/related.ts'
import { number } from '../base/texts.ts'
import { lastWrite } from '../base/writes.ts'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { linkToNext } from './follow.ts'
import { isCollection, labelText, loadCollections, type Preview } from './load-entity.ts'
import { text } from './texts.ts'

interface CollectionsProps {
  readonly dataClass: DataClass
  readonly entityKey: string
}

/** Relations to many entities: their number, and the first ones. */
export function Collections({ dataClass, entityKey }: CollectionsProps) {
  const { result, error, again } = useAnswer(
    signal => loadCollections(dataClass, entityKey, signal),
    [dataClass, entityKey, lastWrite.value],
  )
  const collections = dataClass.attributes.filter(isCollection)
  if (collections.length === 0) return null
  return (
    <section class="collections" aria-label={text('related')}>
      <h3>{text('related')}</h3>
      {error !== undefined && <Fault error={error} again={again} />}
      {collections.map(attribute => (
        <Collection
          key={attribute.name}
          dataClass={dataClass}
          entityKey={entityKey}
          attribute={attribute}
          preview={result?.get(attribute.name)}
        />
      ))}
    </section>
  )
}

interface CollectionProps extends CollectionsProps {
  readonly attribute: Attribute
  readonly preview: Preview | undefined
}

function Collection({ dataClass, entityKey, attribute, preview }: CollectionProps) {
  const target = targetOf(attribute)
  const link = linkToRelated(dataClass, attribute, entityKey)
  const title = (
    <>
      {attribute.name} {preview && <small>{number(preview.__COUNT)}</small>}
    </>
  )
  return (
    <div class="collection">
      {link === undefined ? <span>{title}</span> : <a href={link}>{title}</a>}
      {target && preview && (
        <ul>
          {preview.__ENTITIES.map(entity => (
            <li key={entity.__KEY}>
              <a class="chip" href={linkToNext(target.name, entity.__KEY)}>
                {labelText(target, entity, entity.__KEY)}
              </a>
            </li>
          ))}
          {preview.__COUNT > preview.__ENTITIES.length && <li aria-hidden="true">…</li>}
        </ul>
      )}
    </div>
  )
}

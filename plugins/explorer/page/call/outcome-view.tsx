import { useEffect, useState } from 'preact/hooks'
import { attributeOf, dataClasses, isRelation } from '../base/catalog.ts'
import { format } from '../base/format.ts'
import { linkTo } from '../base/place.ts'
import { Scroller } from '../components/scroller.tsx'
import { Tree } from '../components/tree.tsx'
import type { Outcome, Returned } from './calls.ts'
import { text } from './texts.ts'

export function OutcomeView({ result: { outcome, mediaType, status, bytes, milliseconds } }: { result: Returned }) {
  return (
    <>
      <p class="hint">{text('measured', { milliseconds, bytes, status: String(status) })}</p>
      {outcome instanceof Blob ? <BlobView blob={outcome} mediaType={mediaType} /> : <Shown outcome={outcome} />}
    </>
  )
}

function Shown({ outcome }: { readonly outcome: Outcome }) {
  if (outcome.kind === 'entity') return <EntityView {...outcome} />
  if (outcome.kind === 'selection') return <SelectionView {...outcome} />
  if (outcome.value === undefined || outcome.value === null) return <p>{text('nothing')}</p>
  return <Tree value={outcome.value} open={2} />
}

function EntityView({ dataClass, entity }: Extract<Outcome, { kind: 'entity' }>) {
  return (
    <>
      {dataClass !== undefined && dataClasses.value.has(dataClass) && (
        <p>
          <a href={linkTo([dataClass], { entity: String(entity.__KEY) })}>{text('openEntity')}</a>
        </p>
      )}
      <Tree value={entity} open={1} />
    </>
  )
}

const MAX_COLUMNS = 20
const MAX_ROWS = 100

function SelectionView({ dataClass, count, entities, set }: Extract<Outcome, { kind: 'selection' }>) {
  const shownClass = dataClass === undefined ? undefined : dataClasses.value.get(dataClass)
  const rows = entities.slice(0, MAX_ROWS)
  const names = [...new Set(rows.flatMap(Object.keys))].filter(name => !name.startsWith('__'))
  const columns = names
    .filter(name => {
      const attribute = shownClass && attributeOf(shownClass, name)
      return !attribute || !isRelation(attribute)
    })
    .slice(0, MAX_COLUMNS)
  return (
    <>
      <p>
        {text('entities', { count })}{' '}
        {set !== undefined && shownClass && <a href={linkTo([shownClass.name], { set })}>{text('openSelection')}</a>}
        {rows.length < count && <small> {text('truncated', { count: rows.length })}</small>}
      </p>
      <Scroller label={text('result')}>
        <table>
          <thead>
            <tr>
              <th scope="col">__KEY</th>
              {columns.map(name => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(entity => (
              <tr key={String(entity.__KEY)}>
                <td>
                  {shownClass ? (
                    <a href={linkTo([shownClass.name], { entity: String(entity.__KEY) })}>{String(entity.__KEY)}</a>
                  ) : (
                    String(entity.__KEY)
                  )}
                </td>
                {columns.map(name => {
                  const attribute = shownClass && attributeOf(shownClass, name)
                  const value = entity[name]
                  return <td key={name}>{attribute ? format(value, attribute) : JSON.stringify(value)}</td>
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </>
  )
}

const MAX_TEXT = 100_000

/** An answer that a function has composed: pictures and texts are shown, everything can be saved as a file. */
function BlobView({ blob, mediaType }: { readonly blob: Blob; readonly mediaType: string }) {
  const [address, setAddress] = useState('')
  const [content, setContent] = useState<string>()
  const isText = /^text\/|[/+](json|xml)\b/.test(mediaType)
  useEffect(() => {
    const url = URL.createObjectURL(blob)
    setAddress(url)
    if (isText) void blob.slice(0, MAX_TEXT).text().then(setContent)
    return () => URL.revokeObjectURL(url)
  }, [blob])
  return (
    <>
      <p>
        <code>{mediaType}</code>{' '}
        <a href={address} download="">
          {text('download')}
        </a>
      </p>
      {/^image\//.test(mediaType) && address && <img src={address} alt={text('result')} />}
      {content !== undefined && (
        <Scroller label={text('result')}>
          <pre>{content}</pre>
        </Scroller>
      )}
    </>
  )
}

import { useState } from 'preact/hooks'
import { type Attribute, type DataClass, shapeOf } from '../base/catalog.ts'
import { format } from '../base/format.ts'
import { complain } from '../base/work.ts'
import { Sparkline } from '../components/sparkline.tsx'
import { Tree } from '../components/tree.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { beginningOf } from './editor.ts'
import { linkToNext } from './follow.ts'
import { labelText, linkedClass, linkedEntity, loadValue, storedAt } from './load-entity.ts'
import { bytes } from '../base/amounts.ts'
import { text } from './texts.ts'

/** Maximum characters of a folded text. */
const FOLDED = 600
/** Maximum width of shown images. */
const IMAGE_WIDTH = 720

interface ValueProps {
  readonly dataClass: DataClass
  readonly entityKey: string
  readonly attribute: Attribute
  readonly value: unknown
  /** True if only the beginning of the value is given. */
  readonly isLarge: boolean
}

/** The whole value of an attribute. */
export function Value(props: ValueProps) {
  const { dataClass, entityKey, attribute, isLarge } = props
  const [loadedValue, setLoadedValue] = useState<{ value: unknown }>()
  if (isLarge && !loadedValue) {
    const beginning = beginningOf(props.value) ?? ''
    const load = (): void =>
      void loadValue(dataClass, entityKey, attribute.name).then(value => setLoadedValue({ value }), complain)
    return (
      <span class="text">
        {beginning.slice(0, FOLDED)}…{' '}
        <button type="button" class="quiet" onClick={load}>
          {text('load')}
        </button>
      </span>
    )
  }
  return <Shown {...props} value={loadedValue ? loadedValue.value : props.value} />
}

function Shown({ attribute, value }: ValueProps) {
  if (value == null) return <span class="null">null</span>
  const target = linkedClass(attribute)
  const link = target && linkedEntity(value)
  if (link) {
    return (
      <a class="chip" href={linkToNext(target.name, link.key)}>
        {labelText(target, link.values, link.key)}
      </a>
    )
  }
  switch (shapeOf(attribute)) {
    case 'image':
      return <Image uri={storedAt(value)} name={attribute.name} />
    case 'blob':
      return <Blob uri={storedAt(value)} name={attribute.name} />
    case 'vector':
      return Array.isArray(value) ? (
        <>
          <Sparkline values={value} width={240} height={32} label={attribute.name} />{' '}
          <small>{text('elements', { count: value.length })}</small>
        </>
      ) : null
    case 'object':
      return <Tree value={value} open={JSON.stringify(value).length < FOLDED ? 2 : 1} />
    case 'bool':
      return <>{text(value ? 'yes' : 'no')}</>
    case 'date':
      return <time title={String(value)}>{format(value, attribute)}</time>
    default:
      return <Text value={format(value, attribute)} />
  }
}

function Text({ value }: { readonly value: string }) {
  const [isFolded, setFolded] = useState(value.length > FOLDED)
  if (value === '') return <span class="null">{text('empty')}</span>
  if (!isFolded) return <span class="text">{value}</span>
  return (
    <span class="text">
      {value.slice(0, FOLDED)}…{' '}
      <button type="button" class="quiet" onClick={() => setFolded(false)}>
        {text('unfold', { count: value.length - FOLDED })}
      </button>
    </span>
  )
}

function Image({ uri, name }: { readonly uri: string | undefined; readonly name: string }) {
  const size = useSize(uri)
  if (uri === undefined) return null
  return (
    <figure>
      <a href={uri} target="_blank" rel="noopener">
        <img src={`${uri}&$width=${IMAGE_WIDTH}`} alt={name} />
      </a>
      <figcaption>
        <Download uri={uri} name={name} size={size} />
      </figcaption>
    </figure>
  )
}

function Blob({ uri, name }: { readonly uri: string | undefined; readonly name: string }) {
  const size = useSize(uri)
  return uri === undefined ? null : <Download uri={uri} name={name} size={size} />
}

interface DownloadProps {
  readonly uri: string
  readonly name: string
  readonly size: { readonly bytes: number; readonly type: string } | undefined
}

const Download = ({ uri, name, size }: DownloadProps) => (
  <a href={uri} download={name}>
    {text('download')}{' '}
    {size && (
      <small>
        {size.type} {bytes(size.bytes)}
      </small>
    )}
  </a>
)

/** Size and type of a stored value, without its bytes. */
function useSize(uri: string | undefined): DownloadProps['size'] {
  const { result } = useAnswer(
    async signal => {
      if (uri === undefined) return undefined
      const { headers } = await fetch(uri, { method: 'HEAD', signal })
      return { bytes: Number(headers.get('Content-Length') ?? 0), type: headers.get('Content-Type') ?? '' }
    },
    [uri],
  )
  return result
}

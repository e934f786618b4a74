import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Attribute } from '../base/catalog.ts'
import { draft as current, type FieldProps } from './draft.ts'
import { storedAt } from './load-entity.ts'
import { fileKind } from './save.ts'
import { bytes } from '../base/amounts.ts'
import { text } from './texts.ts'

interface Props extends FieldProps {
  readonly id: string
}

interface FileViewProps {
  readonly attribute: Attribute
  /** Null for none; undefined to show the stored one. */
  readonly file: File | null | undefined
  /** Address of the stored file. */
  readonly uri: string | undefined
}

/** A chosen file, or the stored one. */
export function FileView({ attribute, file, uri }: FileViewProps) {
  const { name } = attribute
  const isImage = fileKind(attribute) === 'image'
  const preview = useMemo(() => (file && isImage ? URL.createObjectURL(file) : undefined), [file])
  useEffect(() => () => void (preview && URL.revokeObjectURL(preview)), [preview])
  if (file === null || (!file && uri === undefined)) return <span class="null">null</span>
  if (!file) {
    return isImage ? (
      <img src={`${uri}&$width=240`} alt={name} />
    ) : (
      <a href={uri} download={name}>
        {text('download')}
      </a>
    )
  }
  return (
    <>
      {preview !== undefined && <img src={preview} alt={file.name} />}
      <span>
        {file.name} <small>{bytes(file.size)}</small>
      </span>
    </>
  )
}

/** An image or a blob: can be chosen, dropped, previewed before it is saved, or removed. */
export function FileField({ id, draft, attribute, ...inputProps }: Props) {
  const { name } = attribute
  const isImage = fileKind(attribute) === 'image'
  const [isOver, setOver] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const file = draft.files.get(name)
  const uri = storedAt(draft.base?.entity[name])

  const set = (newFile: File | null | undefined): void => {
    const files = new Map(draft.files)
    if (newFile === undefined) files.delete(name)
    else files.set(name, newFile)
    current.value = { ...draft, files }
  }
  const isEmpty = file === null || (file === undefined && uri === undefined)
  return (
    <fieldset
      class={`file ${isOver ? 'over' : ''}`}
      aria-label={name}
      onDragOver={event => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={event => {
        event.preventDefault()
        setOver(false)
        const droppedFile = event.dataTransfer?.files[0]
        if (droppedFile) set(droppedFile)
      }}
    >
      <FileView attribute={attribute} file={file} uri={uri} />
      <div class="row">
        <input
          {...inputProps}
          ref={field}
          id={id}
          type="file"
          accept={isImage ? 'image/*' : undefined}
          onChange={({ currentTarget }) => {
            const chosenFile = currentTarget.files?.[0]
            if (chosenFile) set(chosenFile)
          }}
        />
        {!isEmpty && (
          <button type="button" onClick={() => set(null)}>
            {text('removeValue')}
          </button>
        )}
        {file !== undefined && (
          <button
            type="button"
            onClick={() => {
              if (field.current) field.current.value = ''
              set(undefined)
            }}
          >
            {text('asBefore')}
          </button>
        )}
      </div>
    </fieldset>
  )
}

import { useRef } from 'preact/hooks'
import { type Attribute, attributeOf } from '../base/catalog.ts'
import { baseInput, type FieldProps, inputIn, setInput } from './draft.ts'
import { type Editor, read } from './editor.ts'
import { FileField } from './file-field.tsx'
import { RelationField } from './relation-field.tsx'
import { text } from './texts.ts'

interface Props extends FieldProps {
  readonly editor: Editor
  readonly problems: readonly string[]
}

/** The field of an attribute with its label, its rules and its problems. */
export function Field({ draft, attribute, editor, problems }: Props) {
  const { name, mandatory, foreignKey } = attribute
  const id = `field-${name}`
  const isNeeded = mandatory || (foreignKey !== undefined && attributeOf(draft.dataClass, foreignKey)?.mandatory)
  const isTouched =
    draft.files.has(name) || (draft.inputs.has(name) && inputIn(draft, attribute) !== baseInput(draft, attribute))
  return (
    <div class={`field ${isTouched ? 'touched' : ''}`}>
      <label for={id} title={attribute.type}>
        {name}
        {isNeeded && <abbr title={text('needed')}>*</abbr>}
      </label>
      <div>
        <Control id={id} draft={draft} attribute={attribute} editor={editor} isWrong={problems.length > 0} />
        <div id={`${id}-problems`} class="problems" aria-live="polite">
          {problems.map(problem => (
            <p key={problem}>{problem}</p>
          ))}
        </div>
      </div>
    </div>
  )
}

interface ControlProps extends FieldProps {
  readonly id: string
  readonly editor: Editor
  readonly isWrong: boolean
}

function Control({ id, draft, attribute, editor, isWrong }: ControlProps) {
  const input = inputIn(draft, attribute)
  const shared = {
    id,
    'aria-invalid': isWrong,
    'aria-describedby': `${id}-problems`,
  }
  const value = typeof input === 'string' ? input : ''
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }): void => {
    const typed = currentTarget.value
    setInput(attribute, typed === '' && baseInput(draft, attribute) !== '' ? null : typed)
  }
  switch (editor) {
    case 'relation':
      return <RelationField {...shared} draft={draft} attribute={attribute} />
    case 'image':
    case 'blob':
      return <FileField {...shared} draft={draft} attribute={attribute} />
    case 'bool':
      return (
        <select
          {...shared}
          value={input === null ? '' : String(input)}
          onChange={({ currentTarget }) =>
            setInput(attribute, currentTarget.value === '' ? null : currentTarget.value === 'true')
          }
        >
          <option value="">null</option>
          <option value="true">{text('yes')}</option>
          <option value="false">{text('no')}</option>
        </select>
      )
    case 'lines':
      return <textarea {...shared} rows={rowsOf(value)} value={value} placeholder="null" onInput={onInput} />
    case 'json':
    case 'vector':
      return <JsonArea {...shared} attribute={attribute} value={value} onInput={onInput} />
    case 'date':
      return <input {...shared} type="date" value={value} onInput={onInput} />
    case 'time':
      return <input {...shared} type="datetime-local" step="0.001" value={value} onInput={onInput} />
    default:
      return (
        <input
          {...shared}
          inputMode={editor === 'number' ? 'decimal' : undefined}
          autocomplete="off"
          spellcheck={false}
          value={value}
          placeholder={editor === 'duration' ? '0:00:00' : 'null'}
          onInput={onInput}
        />
      )
  }
}

const MAX_ROWS = 14
const rowsOf = (value: string): number => Math.min(MAX_ROWS, Math.max(3, value.split('\n', MAX_ROWS).length + 1))

interface JsonAreaProps {
  readonly id: string
  readonly attribute: Attribute
  readonly value: string
  readonly onInput: (event: { currentTarget: HTMLTextAreaElement }) => void
}

/** JSON as text, with a button that jumps to a mistake. */
function JsonArea({ attribute, value, onInput, ...shared }: JsonAreaProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const result = value.trim() === '' ? undefined : read(attribute, value)
  const at = result && 'fault' in result ? result.fault.at : undefined
  const show = (at: number): void => {
    area.current?.focus()
    area.current?.setSelectionRange(at, at + 1)
  }
  return (
    <>
      <textarea
        {...shared}
        ref={area}
        class="json"
        rows={rowsOf(value)}
        spellcheck={false}
        value={value}
        placeholder="null"
        onInput={onInput}
      />
      {at !== undefined && (
        <button type="button" class="quiet" onClick={() => show(at)}>
          {text('showPlace', placeOf(value, at))}
        </button>
      )}
    </>
  )
}

function placeOf(value: string, at: number): { line: number; column: number } {
  const lines = value.slice(0, at).split('\n')
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}

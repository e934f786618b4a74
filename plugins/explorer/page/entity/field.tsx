import { type Attribute, attributeOf } from '../base/catalog.ts'
import { changedInputs } from './changes.ts'
import { type FieldProps, inputIn, setInput } from './draft.ts'
import { type Editor, type Input, read } from './editor.ts'
import { FileField } from './file-field.tsx'
import { RelationField } from './relation-field.tsx'
import { TextField } from './text-field.tsx'
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
  const isTouched = draft.files.has(name) || changedInputs(draft).has(name)
  return (
    <div class={`field ${isTouched ? 'touched' : ''}`}>
      <label for={id} title={attribute.description ?? attribute.type}>
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
  const inputProps = {
    id,
    'aria-invalid': isWrong,
    'aria-describedby': `${id}-problems`,
  }
  switch (editor) {
    case 'relation':
      return <RelationField {...inputProps} draft={draft} attribute={attribute} />
    case 'image':
    case 'blob':
      return <FileField {...inputProps} draft={draft} attribute={attribute} />
    case 'bool':
    case 'choice':
      return (
        <select
          {...inputProps}
          value={JSON.stringify(input)}
          onChange={({ currentTarget }) => setInput(attribute, JSON.parse(currentTarget.value))}
        >
          {/* The model may have had other choices when the entity was saved. */}
          {[...new Set([null, ...(attribute.choices ?? [true, false]), input])].map(each => (
            <option value={JSON.stringify(each)}>
              {typeof each === 'boolean' ? text(each ? 'yes' : 'no') : String(each)}
            </option>
          ))}
        </select>
      )
    case 'json':
    case 'vector':
      return (
        <>
          <TextField {...inputProps} draft={draft} attribute={attribute} editor={editor} />
          <Mistake id={id} attribute={attribute} input={input} />
        </>
      )
    default:
      return <TextField {...inputProps} draft={draft} attribute={attribute} editor={editor} />
  }
}

interface MistakeProps {
  readonly id: string
  readonly attribute: Attribute
  readonly input: Input
}

/** A button that jumps to a mistake in JSON. */
function Mistake({ id, attribute, input }: MistakeProps) {
  const result = typeof input === 'string' && input.trim() !== '' ? read(attribute, input) : undefined
  const at = result && 'fault' in result ? result.fault.at : undefined
  if (typeof input !== 'string' || at === undefined) return null
  const show = (): void => {
    const area = document.getElementById(id) as HTMLTextAreaElement
    area.focus()
    area.setSelectionRange(at, at + 1)
  }
  return (
    <button type="button" class="quiet" onClick={show}>
      {text('showPlace', placeOf(input, at))}
    </button>
  )
}

function placeOf(value: string, at: number): { line: number; column: number } {
  const lines = value.slice(0, at).split('\n')
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}

import { readArgument } from './calls.ts'
import { text } from './texts.ts'

interface ArgumentListProps {
  readonly args: readonly string[]
  readonly onChange: (args: readonly string[]) => void
}

const MAX_ARGUMENTS = 20

/** A field for each argument, followed by an empty one. */
export function ArgumentList({ args, onChange }: ArgumentListProps) {
  const usedCount = args.findLastIndex(each => each.trim() !== '') + 1
  const fields = Array.from({ length: Math.min(usedCount + 1, MAX_ARGUMENTS) }, (_, i) => args[i] ?? '')
  return (
    <fieldset>
      <legend class="hint">{text('argumentsHint')}</legend>
      {fields.map((value, i) => (
        <Field
          // Arguments are identified by position.
          key={i}
          label={text('argument', { number: i + 1 })}
          value={value}
          onInput={next => onChange(fields.with(i, next))}
        />
      ))}
    </fieldset>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
}

function Field({ label, value, onInput }: FieldProps) {
  const read = readArgument(value)
  return (
    <label class="argument">
      <span>{label}</span>
      <textarea
        rows={1}
        spellcheck={false}
        value={value}
        aria-invalid={read.kind === 'wrong'}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
        }}
      />
      <small class={read.kind === 'wrong' ? 'wrong' : undefined}>
        {read.kind === 'wrong'
          ? text('wrong', { message: read.message })
          : text(read.kind === 'null' ? 'kindNull' : read.kind)}
      </small>
    </label>
  )
}
